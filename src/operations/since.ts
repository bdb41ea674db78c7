import { InvalidInput } from './invalid-input.ts'

const unitMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Reads `since`: `12h`, `1d` or a UTC date such as `2026-11-01`, as milliseconds since 1970. */
export function sinceMs(text: string, now: number): number {
  const begin = beginOf(text, now)
  if (begin > now) throw new InvalidInput('since', `${JSON.stringify(text)} is in the future`)
  // Before that, dates have signs and more than four digits.
  return Math.max(begin, 0)
}

function beginOf(text: string, now: number): number {
  const [, number, unit = ''] = /^(\d{1,6})([mhd])$/.exec(text) ?? []
  if (number !== undefined && Number(number) > 0) return now - Number(number) * (unitMs[unit] ?? 0)
  const date = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN
  if (!Number.isNaN(date)) return date
  throw new InvalidInput(
    'since',
    `${JSON.stringify(text)} is not a time: write 12h, 1d or a date such as 2026-11-01`,
  )
}
