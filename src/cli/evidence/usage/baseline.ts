import type { Observation } from '../../../answers/usage/observation.ts'
import { Fault, Invalid } from '../../../errors.ts'
import type { PolicySet } from '../../../policy/set/policy-set.ts'
import type { Io } from '../../io.ts'
import { readVersion } from '../../policy/versions.ts'
import type { AskedPolicy } from '../../questions/asked-policy.ts'

/** The policies with which an observation began; `undefined` when they are not known, with the reason. */
interface Baseline {
  readonly sets: readonly PolicySet[] | undefined
  readonly name: string
}

/**
 * Finds out what was live when the observation began, so that younger rules are told apart: the policy
 * that the user names, else the revisions that gateways used in the first hour.
 */
export async function findBaseline(
  named: string | undefined,
  { firstRevisions }: Observation,
  { settings, whole }: AskedPolicy,
  io: Io,
): Promise<Baseline> {
  if (named !== undefined) {
    const { set } = await readVersion(named, settings, io)
    return { sets: [set], name: named }
  }
  const name = firstRevisions.slice(0, 3).join(', ')
  const sets: PolicySet[] = []
  // Someone who can write to Redis could name thousands.
  for (const revision of firstRevisions.slice(0, mostRevisions)) {
    const set =
      revision === whole.revision
        ? whole
        : await published(() => readVersion(revision, settings, io))
    if (set === undefined) return { sets: undefined, name }
    sets.push(set)
  }
  return { sets: firstRevisions.length > mostRevisions ? undefined : sets, name }
}

const mostRevisions = 20

/** Without Redis, or when it has forgotten the revision, its content is not known. */
async function published(
  read: () => Promise<{ readonly set: PolicySet }>,
): Promise<PolicySet | undefined> {
  try {
    return (await read()).set
  } catch (error) {
    if (error instanceof Invalid || error instanceof Fault) return undefined
    throw error
  }
}
