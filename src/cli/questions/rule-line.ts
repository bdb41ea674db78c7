import { placeOf } from '../../policy/review/finding.ts'
import type { Exclusion, Rule } from '../../policy/rule/rule.ts'

/** A rule or an exclusion with its place: `policies/policy.csv:12: p, editor, /orders, PUT`. */
export function lineOf(granted: Rule | Exclusion): string {
  const { method, path, origin } = granted
  const place = placeOf(origin)
  if (!('roleKey' in granted)) return `${place}: ${method} ${path}`
  if (granted.fields !== undefined) return `${place}: p, ${granted.fields.join(', ')}`
  const effect = granted.effect === 'deny' ? ', deny' : ''
  return `${place}: p, ${granted.roleKey}, ${path}, ${method}${effect}`
}
