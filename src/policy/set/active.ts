import { isExpired } from '../rule/until.ts'
import type { PolicySet } from './policy-set.ts'

/**
 * A policy as gateways apply it at a time: without the lines that have expired. Keeps its revision,
 * which is that of the files.
 */
export function activeAt(set: PolicySet, at: number): PolicySet {
  const { rules, inheritances, exclusions } = set
  const isOver = (line: { readonly until?: number }) => isExpired(line, at)
  if (![rules, inheritances, exclusions].some((lines) => lines.some(isOver))) return set
  return Object.freeze({
    ...set,
    rules: Object.freeze(rules.filter((rule) => !isOver(rule))),
    inheritances: Object.freeze(inheritances.filter((each) => !isOver(each))),
    exclusions: Object.freeze(exclusions.filter((each) => !isOver(each))),
  })
}
