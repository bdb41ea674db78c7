import { decide } from '../policy/decide.ts'
import type { Asked } from './asked.ts'
import { createCallCases } from './call-cases.ts'
import { createLineages } from './lineage.ts'
import { type Effects, placeOf } from './rule-effects.ts'

/**
 * What a role may do under a model that Casbin evaluates: asks about one example for each rule,
 * because only the matcher knows what a rule means. Stops when that takes too long.
 */
export function effectsByExample(asked: Asked, roleKey: string): Effects {
  const { policies } = asked
  const { rules } = policies.set
  const ways = createLineages(policies.set).waysUp(roleKey)
  const callCases = createCallCases(asked)
  const placed: Effects['placed'][number][] = []
  const seen = new Set<string>()
  let left = mostRows / Math.max(rules.length, 1)
  for (const each of rules) {
    if (left <= 0) break
    callCases(each, ({ method, path, standing }) => {
      const key = `${method} ${path}`
      if (standing.kind !== 'policy' || seen.has(key)) return
      seen.add(key)
      left--
      const { allowed, rule } = decide({ roleKey, method, path }, policies)
      if (!allowed || rule === undefined) return
      const via = ways.get(rule.roleKey) ?? []
      const place = placeOf(standing.verdict)
      placed.push({ place, rule: { rule, via, effect: 'allows', example: { method, path } } })
    })
  }
  return { placed, isExact: false }
}

/** Rules that Casbin may evaluate for one answer: some seconds. */
const mostRows = 2_000_000
