import { type Observation, observationOf } from '../../answers/usage/observation.ts'
import { type UnusedAnswer, unusedOf } from '../../answers/usage/unused.ts'
import { Fault, Invalid } from '../../kernel/errors.ts'
import type { Exclusion, Rule } from '../../policy/rule/rule.ts'
import type { PolicySet } from '../../policy/set/policy-set.ts'
import { DAY_MS, lastDays } from '../../policy/usage/usage.ts'
import type { Surroundings } from '../context.ts'
import { InvalidInput } from '../invalid-input.ts'
import type { RunOf } from '../operation.ts'
import { dated } from './dated.ts'
import { observed } from './denials.ts'
import type { policyUnused } from './evidence-descriptions.ts'
import { findPolicy, type PolicyQuery, policyName } from './policy-query.ts'
import { readUsage } from './stored-usage.ts'
import { readVersion } from './versions.ts'
import { writeCandidate } from './write-candidate.ts'

/** What the text shows besides: the policy in words. */
export interface UnusedExtras {
  readonly policy: string
  /** Why no candidate was written, which people read after the list. */
  readonly failure?: unknown
}

/** Lists what no request has used, and writes a policy without it. */
export const run: RunOf<typeof policyUnused, UnusedExtras> = async (input, context) => {
  const { days, write, force } = input
  if (force && write === undefined) throw new InvalidInput(undefined, '--force needs --write DIR')
  const options = { ...input, config: context.configFile }
  const query = withCasbinNote(await findPolicy(options, context, 'optional'))
  const kinds = ['decision', 'role'] as const
  const now = context.now()
  // Counts are by UTC day, so that of the begin is read as a whole.
  const usage = await readUsage(query.settings, { days: lastDays(days + 1, now), kinds }, context)
  const observation = observationOf(usage, { begin: now - days * DAY_MS, now })
  const baseline = await findBaseline(input.baseline, observation, query, context)
  const answer = unusedOf(query.whole, usage, { before: baseline.sets, now })
  const document = {
    ...{ policy: query.name, revision: query.policies.revision },
    observed: { ...observed(observation), otherRoles: usage.others.role },
    baseline: { name: baseline.name, isKnown: baseline.sets !== undefined },
    ...listed(answer, query.whole),
    notes: query.notes,
  }
  const shown = { policy: policyName(query) }
  if (write === undefined) return { document, shown }
  try {
    const found = { query, answer, observed: document.observed }
    const candidate = await writeCandidate(found, { write, force }, context)
    return { document: { ...document, candidate }, shown }
  } catch (failure) {
    return { document, outcome: 'no', shown: { ...shown, failure } }
  }
}

/** The answer as documents have it. */
function listed({ grants, exclusions, roles, unmentioned }: UnusedAnswer, whole: PolicySet) {
  const rules = Map.groupBy(whole.rules, ({ roleKey }) => roleKey)
  const links = Map.groupBy(whole.inheritances, ({ roleKey }) => roleKey)
  return {
    grants: dated(grants.map(placed)),
    exclusions: dated(exclusions.map(placed)),
    roles: roles.map(({ what: roleKey, isNew }) => {
      const [own, parents] = [rules.get(roleKey) ?? [], links.get(roleKey) ?? []]
      return { roleKey, isNew, rules: own.length, parents: parents.length }
    }),
    unmentioned: unmentioned.map(({ last, ...role }) => {
      return { ...role, last: new Date(last).toISOString() }
    }),
  }
}

function placed<What extends Rule | Exclusion>({
  what: { origin, ...content },
  isNew,
}: {
  readonly what: What
  readonly isNew: boolean
}) {
  return { ...origin, ...content, isNew }
}

function withCasbinNote(query: PolicyQuery): PolicyQuery {
  if (query.whole.model.casbin === undefined) return query
  const note =
    'Casbin evaluates this model, and only its matcher knows which roles it allows: a role may need no rule that names it'
  return { ...query, notes: [...query.notes, note] }
}

/**
 * Finds out what was live when the observation began, so that younger rules are told apart: the policy
 * that the user names, else the revisions that gateways used in the first hour. Those that came later
 * tell which rules were missing for a while, as after a rollback, as far as they are known. `sets` is
 * `undefined` when the policies of the begin are not known.
 */
async function findBaseline(
  named: string | undefined,
  { firstRevisions, laterRevisions }: Observation,
  { settings, whole }: PolicyQuery,
  io: Surroundings,
) {
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
