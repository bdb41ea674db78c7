import type { Exclusion, Rule } from '#client'

/** A line of a policy file. */
export type Line = Rule | Exclusion

/** `p, editor, /orders, PUT`: a line as the policy file has it. */
export function lineOf(granted: Line): string {
  const { method, path } = granted
  if (!('roleKey' in granted)) return `${method} ${path}`
  if (granted.fields !== undefined) return `p, ${granted.fields.join(', ')}`
  return `p, ${granted.roleKey}, ${path}, ${method}${granted.effect === 'deny' ? ', deny' : ''}`
}

/** `policy.csv:12`; a built-in entry has no line. */
export function placeOf({ file, line }: Rule['origin']): string {
  return line === 0 ? file : `${file}:${line}`
}
