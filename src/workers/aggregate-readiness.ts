import { type Readiness, shutdownProblems } from '../http/readiness.ts'
import type { WorkerSlot } from './worker-slot.ts'

/** What one worker reports; `undefined` when it does not answer. */
interface Reported {
  readonly slot: WorkerSlot
  readonly readiness: Readiness | undefined
}

/**
 * Whether the workers together should get traffic: after a complete start, at least one listens and no
 * listening worker reports a problem. A worker that is missing or unresponsive gets no connections, so
 * it does not count; one with a problem would get its share of them.
 */
export async function aggregateReadiness(
  slots: readonly WorkerSlot[],
  { hasStarted, isClosing }: { readonly hasStarted: boolean; readonly isClosing: boolean },
  verbose: boolean,
): Promise<Readiness> {
  const all = await Promise.all(
    slots.map(async (slot): Promise<Reported> => {
      return { slot, readiness: await slot.ask('readiness') }
    }),
  )
  const answers = all.flatMap(({ readiness }) => readiness ?? [])
  const listening = all.filter(
    ({ slot, readiness }) => readiness !== undefined && slot.state() === 'listening',
  )
  const problems = isClosing
    ? shutdownProblems
    : [...missing(listening.length, slots.length, hasStarted), ...distinct(listening)]
  const revisions = new Set(answers.map(({ revision }) => revision))
  const [revision = null] = revisions.size === 1 ? revisions : []
  const verdict = { ready: problems.length === 0, revision, problems }
  return verbose ? { ...verdict, workers: all.map(inFull) } : verdict
}

function missing(listening: number, count: number, hasStarted: boolean): Readiness['problems'] {
  if (listening > 0 && hasStarted) return []
  return [{ name: 'workers', problem: `${listening} of ${count} listen` }]
}

/** A problem of several workers is reported once. */
function distinct(all: readonly Reported[]): Readiness['problems'] {
  const problems = all.flatMap(({ readiness }) => readiness?.problems ?? [])
  return [...new Map(problems.map((one) => [JSON.stringify(one), one])).values()]
}

function inFull({ slot, readiness }: Reported) {
  const configurationError = slot.configurationError()
  return {
    worker: slot.number,
    pid: slot.pid(),
    state: slot.state(),
    ...(configurationError !== undefined && { configurationError }),
    ...readiness,
  }
}
