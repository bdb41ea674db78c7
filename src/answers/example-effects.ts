import { decide } from '../policy/decide.ts'
import { createCallCases } from './call-cases.ts'
import { createLineages } from './lineage.ts'
import type { Scope } from './query-scope.ts'
import { type Effects, placeOf } from './rule-effects.ts'

/**
 * What a role may do under a model that Casbin evaluates: asks about one example for each rule,
 * because only the matcher knows what a rule means. Stops when that takes too long.
 */
export function effectsByExample(scope: Scope, roleKey: string): Effects {
  const { policies } = scope
  const { rules } = policies.set
  const lineages = createLineages(policies.set)
  const callCases = createCallCases(scope)
  const placed: Effects['placed'][number][] = []
  let unasked = 0
  let left = mostRows / Math.max(rules.length, 1)
  for (const each of rules) {
    let isAsked = false
    if (left > 0) {
      callCases(each, ({ method, path, standing }) => {
        isAsked = true
        // One decision for the standing, and one for the role.
        left -= 2
        if (standing.kind !== 'policy') return
        const { allowed, rule } = decide(
          { roleKey, method, path, host: standing.verdict.host },
          policies,
        )
        const place = placeOf(standing.verdict)
        if (!allowed || rule === undefined) return
        const held = lineages.held(roleKey, rule)
        placed.push({ place, rule: { ...held, effect: 'allows', example: { method, path } } })
      })
    }
    if (!isAsked) unasked++
  }
  return { placed, isExact: false, unasked }
}

/** The first example of each rule at each place. */
export function oncePerRule(placed: Effects['placed']): Effects['placed'] {
  const byRule = Map.groupBy(placed, ({ rule }) => rule.rule)
  return [...byRule.values()].flatMap((some) =>
    some.filter(({ place }, at) => some.findIndex((other) => other.place === place) === at),
  )
}

/** Rules that Casbin may evaluate for one answer: some seconds. */
const mostRows = 2_000_000
