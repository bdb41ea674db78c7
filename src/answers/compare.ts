import { decide } from '../policy/decide.ts'
import { widest } from '../policy/diff/widest.ts'
import { createCallCases } from './call-cases.ts'
import { effectsByExample, oncePerRule } from './example-effects.ts'
import { createLineages, type HeldRule } from './lineage.ts'
import { fullAccess, type Scope } from './query-scope.ts'

/** A rule by which one role may do what another may not. */
interface RoleDifference extends HeldRule {
  /** Whether the other role may make none of the calls that the rule allows. */
  readonly isWhole: boolean
  /** A call that shows the difference, served by a route if any such call is. */
  readonly example: { readonly method: string; readonly path: string }
  /** No route serves any of the calls that differ. */
  readonly isUnserved: boolean
}

export interface RoleDifferences {
  readonly differences: readonly RoleDifference[]
  /** The role may make every call, and the other one may not: no rule shows the difference. */
  readonly isEverything: boolean
  /** Whether no other call differs; else they come from examples. */
  readonly isExact: boolean
  /** Under a model that Casbin evaluates: rules of which no example call could be asked about. */
  readonly unasked: number
}

/** What `roleKey` may do and `otherKey` may not. Compares access: the same rule in another form does not count. */
export function differencesOf(scope: Scope, roleKey: string, otherKey: string): RoleDifferences {
  const { policies } = scope
  if (fullAccess(scope, roleKey) !== undefined) {
    const isEverything = fullAccess(scope, otherKey) === undefined
    return { differences: [], isEverything, isExact: true, unasked: 0 }
  }
  if (policies.set.model.casbin !== undefined) return differencesByExample(scope, roleKey, otherKey)
  const lineages = createLineages(policies.set)
  const ways = lineages.waysUp(roleKey)
  const callCases = createCallCases(scope)
  let isExact = true

  const found = policies.set.rules.flatMap((rule): RoleDifference[] => {
    const isOwn = rule.roleKey === roleKey
    if (rule.effect === 'deny' || !(isOwn || ways.has(rule.roleKey))) return []
    let isWhole = true
    let example: RoleDifference['example'] | undefined
    let isUnserved = true
    const areAll = callCases(rule, ({ method, path, standing }) => {
      if (standing.kind !== 'policy') return
      if (!decide({ roleKey, method, path }, policies).allowed) return
      if (decide({ roleKey: otherKey, method, path }, policies).allowed) {
        isWhole = false
        return
      }
      const isBetter = isUnserved && !standing.verdict.isUnserved
      if (example === undefined || isBetter) example = { method, path }
      isUnserved &&= standing.verdict.isUnserved
    })
    isExact &&= areAll
    if (example === undefined) return []
    return [{ ...lineages.held(roleKey, rule), isWhole, example, isUnserved }]
  })
  return { differences: widestOf(found), isEverything: false, isExact, unasked: 0 }
}

function differencesByExample(scope: Scope, roleKey: string, otherKey: string): RoleDifferences {
  const { placed, unasked } = effectsByExample(scope, roleKey)
  const alone = placed.filter(({ rule: { example } }) => {
    return example && !decide({ roleKey: otherKey, ...example }, scope.policies).allowed
  })
  const differences = oncePerRule(alone).flatMap(({ place, rule: found }) => {
    const { effect: _, example, ...held } = found
    if (example === undefined) return []
    return [{ ...held, example, isWhole: false, isUnserved: place === 'unserved' }]
  })
  return { differences, isEverything: false, isExact: false, unasked }
}

/**
 * Without those that a wider one includes. One that the other role has in part says less than a
 * narrow one that it lacks, so it does not replace that.
 */
function widestOf(differences: readonly RoleDifference[]): readonly RoleDifference[] {
  const granted = differences.map((difference) => ({ ...difference.rule, difference }))
  const remaining = new Set([
    ...widest(granted.filter(({ difference }) => difference.isWhole)),
    ...widest(granted).filter(({ difference }) => !difference.isWhole),
  ])
  return granted.filter((each) => remaining.has(each)).map(({ difference }) => difference)
}
