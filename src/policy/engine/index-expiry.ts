import type { SuperuserClause } from '../model/superuser.ts'
import type { Inheritance, Rule } from '../rule/rule.ts'
import { endOf } from '../rule/until.ts'
import type { PolicySet } from '../set/policy-set.ts'
import { rowsPerStep, type Steps } from '../steps.ts'
import { ancestorEnds } from './ancestor-ends.ts'
import type { ScopedLineages } from './index-domains.ts'
import type { Lineages } from './lineages.ts'
import type { Numbers } from './tables/numbers.ts'

/**
 * From when the parts of an index are ignored, in milliseconds since 1970; `Infinity` for what never
 * is. In flat memory that moves between threads.
 */
export interface IndexExpiry {
  /** By the position of a rule. */
  readonly rules: Float64Array
  /** When the last rule ends: without rules, nothing matches a superuser. */
  readonly lastRule: number
  /** For each of `lineages.ancestors`, when the way to it that lasts longest ends. */
  readonly ancestors: Float64Array
  /** By the number of a role: its clause that lasts longest, counted from one, or 0, and its end. */
  readonly superusers: { readonly clauses: Uint16Array; readonly ends: Float64Array }
}

/** The roles of an index, and the lists of their ancestors. */
interface RoleLists {
  readonly roles: Numbers
  readonly lineages: Lineages
}

/** `undefined` if no line expires. */
export function* indexExpiry(
  { rules, inheritances, model: { superusers = [] } }: PolicySet,
  { roles, lineages, scoped }: RoleLists & { readonly scoped: ScopedLineages | undefined },
): Steps<IndexExpiry | undefined> {
  const ofRules = yield* endsOfRules(rules)
  const expires = inheritances.some(({ until }) => until !== undefined)
  if (ofRules === undefined && !expires) return undefined

  const ancestors =
    expires && scoped === undefined
      ? yield* endsOfAncestors(inheritances, { roles, lineages })
      : (scoped?.ends ?? new Float64Array(lineages.ancestors.length).fill(Number.POSITIVE_INFINITY))
  return {
    rules: ofRules?.ends ?? new Float64Array(rules.length).fill(Number.POSITIVE_INFINITY),
    lastRule: ofRules?.last ?? Number.POSITIVE_INFINITY,
    ancestors,
    superusers: superuserEnds(superusers, { roles, lineages, ancestors }),
  }
}

function* endsOfAncestors(
  inheritances: readonly Inheritance[],
  { roles, lineages }: RoleLists,
): Steps<Float64Array> {
  const endsOf = yield* ancestorEnds(inheritances)
  const ancestors = new Float64Array(lineages.ancestors.length)
  for (const [role, roleKey] of roles.texts.entries()) {
    if (role % rowsPerStep === 0) yield
    const ends = endsOf.get(roleKey)
    const end = lineages.starts[role + 1] ?? 0
    for (let at = lineages.starts[role] ?? 0; at < end; at++) {
      const ancestor = roles.texts[lineages.ancestors[at] ?? 0] ?? ''
      ancestors[at] = ends?.get(ancestor) ?? Number.POSITIVE_INFINITY
    }
  }
  return ancestors
}

/** `undefined` if no rule expires. */
function* endsOfRules(
  rules: readonly Rule[],
): Steps<{ readonly ends: Float64Array; readonly last: number } | undefined> {
  let ends: Float64Array | undefined
  let last = 0
  for (let position = 0; position < rules.length; position++) {
    if (position % (rowsPerStep * 8) === 0) yield
    const rule = rules[position] as Rule
    last = Math.max(last, endOf(rule))
    if (rule.until === undefined) continue
    ends ??= new Float64Array(rules.length).fill(Number.POSITIVE_INFINITY)
    ends[position] = rule.until
  }
  return ends && { ends, last }
}

function superuserEnds(
  clauses: readonly SuperuserClause[],
  { roles: { texts }, lineages, ancestors }: RoleLists & Pick<IndexExpiry, 'ancestors'>,
): IndexExpiry['superusers'] {
  if (clauses.length === 0) return { clauses: new Uint16Array(0), ends: new Float64Array(0) }
  const chosen = new Uint16Array(texts.length)
  const ends = new Float64Array(texts.length)
  for (const [role, roleKey] of texts.entries()) {
    const start = lineages.starts[role] ?? 0
    const end = lineages.starts[role + 1] ?? 0
    for (const [number, clause] of clauses.entries()) {
      let until = clause.roleKey === roleKey ? Number.POSITIVE_INFINITY : 0
      for (let at = start; clause.inherited && at < end; at++) {
        if (texts[lineages.ancestors[at] ?? 0] !== clause.roleKey) continue
        until = Math.max(until, ancestors[at] ?? 0)
      }
      if (until <= (ends[role] ?? 0)) continue
      chosen[role] = number + 1
      ends[role] = until
    }
  }
  return { clauses: chosen, ends }
}
