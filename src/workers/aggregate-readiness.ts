import type { Readiness } from '../http/readiness.ts'
import type { Place } from './worker-slot.ts'

/** What one worker says of itself; nothing when it does not answer. */
interface Said {
  readonly place: Place
  readonly readiness: Readiness | undefined
}

/**
 * Whether traffic should come to all workers together: once all of them have listened, when one at
 * least listens and none of those that answer complains. One that is away or silent is given no
 * connection that it could spoil; one that complains would be given its share.
 */
export async function wholeReadiness(
  places: readonly Place[],
  { hasStarted, isClosing }: { readonly hasStarted: boolean; readonly isClosing: boolean },
  verbose: boolean,
): Promise<Readiness> {
  const all = await Promise.all(
    places.map(async (place): Promise<Said> => {
      return { place, readiness: await place.ask('readiness') }
    }),
  )
  const answers = all.flatMap(({ readiness }) => readiness ?? [])
  const listening = all.filter(
    ({ place, readiness }) => readiness !== undefined && place.state() === 'listening',
  )
  const problems = isClosing
    ? [{ name: 'life', problem: 'closing' }]
    : [...lack(listening.length, places.length, hasStarted), ...distinct(listening)]
  const revisions = new Set(answers.map(({ revision }) => revision))
  const [revision = null] = revisions.size === 1 ? revisions : []
  const verdict = { ready: problems.length === 0, revision, problems }
  return verbose ? { ...verdict, workers: all.map(inFull) } : verdict
}

function lack(listening: number, count: number, hasStarted: boolean): Readiness['problems'] {
  if (listening > 0 && hasStarted) return []
  return [{ name: 'workers', problem: `${listening} of ${count} listen` }]
}

/** What all workers complain about is said once. */
function distinct(all: readonly Said[]): Readiness['problems'] {
  const problems = all.flatMap(({ readiness }) => readiness?.problems ?? [])
  return [...new Map(problems.map((one) => [JSON.stringify(one), one])).values()]
}

function inFull({ place, readiness }: Said) {
  return { worker: place.number, pid: place.pid(), state: place.state(), ...readiness }
}
