import { isSamePolicy } from '../review/same-policy.ts'
import { ANY_METHOD, type Origin, type Rule } from '../rule/rule.ts'
import type { Expiring } from '../rule/until.ts'
import { formatModel } from '../set/format.ts'
import type { PolicySet } from '../set/policy-set.ts'
import { inheritanceKey, ruleKey } from '../set/revision.ts'
import type { FoundChange } from './access-change.ts'

/**
 * The access that callers may have gained when Casbin evaluates one of two policies. With the same
 * model and the same inheritance only a new allow rule or a removed deny rule can give access. With
 * any other difference, every access may have changed.
 */
export function possibleGains(from: PolicySet, to: PolicySet): readonly FoundChange[] {
  if (isSamePolicy(undated(from), undated(to))) return []
  if (!weighAlike(from, to)) return [somethingAt('added', { file: 'model.conf', line: 1 })]
  const before = new Set(from.rules.map(ruleKey))
  const after = new Set(to.rules.map(ruleKey))
  const came = to.rules.filter((rule) => !isDeny(rule) && !before.has(ruleKey(rule)))
  const went = from.rules.filter((rule) => isDeny(rule) && !after.has(ruleKey(rule)))
  return [
    ...came.map((rule) => somethingAt('added', rule.origin, rule)),
    ...went.map((rule) => somethingAt('removed', rule.origin, rule)),
  ]
}

/** Both are compared at one moment: lines that only expire at different times later are equal. */
function undated(set: PolicySet): PolicySet {
  const without = <Line extends Expiring>(lines: readonly Line[]) =>
    lines.map(({ until: _, ...line }) => line)
  return {
    ...set,
    rules: without(set.rules),
    inheritances: without(set.inheritances),
    exclusions: without(set.exclusions),
  }
}

function weighAlike(from: PolicySet, to: PolicySet): boolean {
  // A name can have a comma: joined by one, `a -> p` and `q,r -> s` would be `a -> p,q` and `r -> s`.
  const rolesOf = ({ inheritances }: PolicySet) =>
    inheritances.map(inheritanceKey).sort().join('\n')
  return (
    formatModel(from.model) === formatModel(to.model) &&
    from.model.casbin?.effect !== 'priority' &&
    rolesOf(from) === rolesOf(to)
  )
}

function isDeny({ effect }: Rule): boolean {
  return effect === 'deny'
}

function somethingAt(line: FoundChange['line'], origin: Origin, rule?: Rule): FoundChange {
  const grant = {
    methods: [ANY_METHOD],
    path: '/*',
    example: undefined,
    certain: false,
    owner: undefined,
    origin,
  }
  return {
    cause: 'casbin',
    line,
    origin,
    roleKey: undefined,
    ...(rule?.fields !== undefined && { text: ['p', ...rule.fields].join(', ') }),
    until: rule?.until,
    shares: [{ roles: [], grants: [grant] }],
  }
}
