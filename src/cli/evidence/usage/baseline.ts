import type { Observation } from '../../../answers/usage/observation.ts'
import { Fault, Invalid } from '../../../kernel/errors.ts'
import type { AskedPolicy } from '../../../operations/policy/asked-policy.ts'
import { readVersion } from '../../../operations/policy/versions.ts'
import type { PolicySet } from '../../../policy/set/policy-set.ts'
import type { Io } from '../../io.ts'

/** The policies of an observation; `undefined` when those of its begin are not known, with the reason. */
interface Baseline {
  readonly sets: readonly PolicySet[] | undefined
  readonly name: string
}

/**
 * Finds out what was live when the observation began, so that younger rules are told apart: the policy
 * that the user names, else the revisions that gateways used in the first hour. Those that came later
 * tell which rules were missing for a while, as after a rollback, as far as they are known.
 */
export async function findBaseline(
  named: string | undefined,
  { firstRevisions, laterRevisions }: Observation,
  { settings, whole }: AskedPolicy,
  io: Io,
): Promise<Baseline> {
  /** Up to the first that is not known: when Redis is unreachable, each would take its time. */
  async function read(revisions: readonly string[]): Promise<readonly PolicySet[]> {
    const sets: PolicySet[] = []
    // Someone who can write to Redis could name thousands.
    for (const revision of revisions.slice(0, mostRevisions)) {
      const set =
        revision === whole.revision
          ? whole
          : await published(() => readVersion(revision, settings, io))
      if (set === undefined) break
      sets.push(set)
    }
    return sets
  }

  const later = laterRevisions
    .filter((revision) => revision !== whole.revision)
    .slice(0, mostRules / Math.max(1, whole.rules.length))
  if (named !== undefined) {
    const { set } = await readVersion(named, settings, io)
    return { sets: [set, ...(await read(later))], name: named }
  }
  const name = firstRevisions.slice(0, 3).join(', ')
  const first = await read(firstRevisions)
  if (first.length < firstRevisions.length) return { sets: undefined, name }
  return { sets: [...first, ...(await read(later))], name }
}

const mostRevisions = 20
/** Of later revisions together: those of a large policy take seconds each. */
const mostRules = 500_000

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
