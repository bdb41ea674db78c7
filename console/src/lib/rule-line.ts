import type { Exclusion, Rule } from '#client'

type Line = Omit<Rule, 'until'> | Omit<Exclusion, 'until'>

/** A line with its end, which answers about counted calls have in milliseconds. */
export type Dated = Line & { readonly until?: string | number | undefined }

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

/** When a line ends: a date, or a time where it is not the start of a day. */
export function endOf({ until }: Dated): string | undefined {
  if (typeof until !== 'number') return until
  return new Date(until).toISOString().replace('T00:00:00.000Z', '').replace('.000Z', 'Z')
}
