import { type Observation, observationOf } from '../../../answers/usage/observation.ts'
import { unusedOf } from '../../../answers/usage/unused.ts'
import { Fault, Invalid } from '../../../kernel/errors.ts'
import { type AskedPolicy, askedPolicy } from '../../../operations/policy/asked-policy.ts'
import { readUsage } from '../../../operations/policy/stored-usage.ts'
import { readVersion } from '../../../operations/policy/versions.ts'
import type { PolicySet } from '../../../policy/set/policy-set.ts'
import { DAY_MS, lastDays } from '../../../policy/usage/usage.ts'
import { type Run, UsageError } from '../../command.ts'
import { json } from '../../format.ts'
import type { Io } from '../../io.ts'
import { noteLines } from '../../view.ts'
import type { unusedSpec } from './specs.ts'
import { formatUnused, type UnusedReport, unusedAsJson } from './unused-text.ts'
import { candidateAsJson, formatCandidate, writeCandidate } from './write-candidate.ts'

/** Lists what no request has used, and writes a policy without it. */
export const policyUnused: Run<typeof unusedSpec> = async ({ options }, io) => {
  const { days, write, force, output } = options
  if (force && write === undefined) throw new UsageError('--force needs --write DIR')
  const asked = withCasbinNote(await askedPolicy(options, io, 'optional'))
  const kinds = ['decision', 'role'] as const
  const now = io.now?.() ?? Date.now()
  // Counts are by UTC day, so that of the begin is read as a whole.
  const usage = await readUsage(asked.settings, { days: lastDays(days + 1, now), kinds }, io)
  const observation = observationOf(usage, { begin: now - days * DAY_MS, now })
  const baseline = await findBaseline(options.baseline, observation, asked, io)
  const answer = unusedOf(asked.whole, usage, { before: baseline.sets, now })
  const report: UnusedReport = {
    asked,
    answer,
    observation,
    baseline,
    otherRoles: usage.others.role,
  }

  if (output === 'text') io.out(formatUnused(report))
  const written =
    write === undefined ? undefined : await writeCandidate(report, { directory: write, force }, io)
  if (output === 'json') {
    const candidate = written && candidateAsJson(written)
    io.out(json({ ...unusedAsJson(report), ...(candidate && { candidate }) }))
  } else if (written !== undefined) io.out(formatCandidate(written))
  io.err(noteLines(asked.notes))
  return 0
}

function withCasbinNote(asked: AskedPolicy): AskedPolicy {
  if (asked.whole.model.casbin === undefined) return asked
  const note =
    'Casbin evaluates this model, and only its matcher knows which roles it allows: a role may need no rule that names it'
  return { ...asked, notes: [...asked.notes, note] }
}

/**
 * Finds out what was live when the observation began, so that younger rules are told apart: the policy
 * that the user names, else the revisions that gateways used in the first hour. Those that came later
 * tell which rules were missing for a while, as after a rollback, as far as they are known.
 */
async function findBaseline(
  named: string | undefined,
  { firstRevisions, laterRevisions }: Observation,
  { settings, whole }: AskedPolicy,
  io: Io,
): Promise<UnusedReport['baseline']> {
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
