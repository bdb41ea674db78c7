import { hash } from 'node:crypto'
import type { Decision } from '../engine/decision.ts'
import type { Exclusion, Rule } from '../rule/rule.ts'

/**
 * The key under which a decision is counted: that of the rule, the exclusion or the superuser clause
 * which decided, or of the step `admin`. `undefined` when nothing matched. A key names content, not a
 * place or a revision, so counts survive reformatting, moving between files and later revisions.
 */
export function usageKey({ step, rule, exclusion, clause }: Decision): string | undefined {
  if (rule !== undefined) return ruleUsageKey(rule)
  if (exclusion !== undefined) return exclusionUsageKey(exclusion)
  if (step === 'superuser') return keyOf(['superuser', clause ?? ''])
  return step === 'admin' ? step : undefined
}

/** The key of a rule. */
export function ruleUsageKey({ roleKey, path, method, effect, fields }: Rule): string {
  const columns = [roleKey, path, method, effect]
  // Whether a model has the effect as a column does not change what a rule says.
  const isPlain = fields?.every((field, at) => field === columns[at]) ?? true
  return keyOf(['rule', ...(isPlain ? columns : (fields ?? columns))])
}

/** The key of an exclusion. Another reason makes it no other exclusion. */
export function exclusionUsageKey({ method, path }: Exclusion): string {
  return keyOf(['exclusion', method, path])
}

/** A hash, because role keys and columns have no useful bound on their length. */
function keyOf(parts: readonly string[]): string {
  return hash('sha256', JSON.stringify(parts), 'base64url').slice(0, 22)
}
