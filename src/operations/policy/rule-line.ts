import { placeOf } from '../../policy/review/finding.ts'
import type { Exclusion, Rule } from '../../policy/rule/rule.ts'
import { formatUntil } from '../../policy/rule/until.ts'

type Line<Of> = Omit<Of, 'until'> & { readonly until?: number | string }

/**
 * A rule or an exclusion with its place: `policies/policy.csv:12: p, editor, /orders, PUT`. `until`
 * is when it ends, which for a role that inherits it may be sooner.
 */
export function lineOf(granted: Line<Rule> | Line<Exclusion>, until = granted.until): string {
  return `${columnsOf(granted)}${until === undefined ? '' : ` (${untilNote(until)})`}`
}

/** `until 2026-12-01`. */
export function untilNote(until: number | string): string {
  return `until ${typeof until === 'string' ? until : formatUntil(until)}`
}

function columnsOf(granted: Line<Rule> | Line<Exclusion>): string {
  const { method, path, origin } = granted
  const place = placeOf(origin)
  if (!('roleKey' in granted)) return `${place}: ${method} ${path}`
  if (granted.fields !== undefined) return `${place}: p, ${granted.fields.join(', ')}`
  const effect = granted.effect === 'deny' ? ', deny' : ''
  return `${place}: p, ${granted.roleKey}, ${path}, ${method}${effect}`
}

export { ANY_METHOD, METHODS } from '../../policy/rule/rule.ts'
export { placeOf }
