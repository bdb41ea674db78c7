import { InvalidInput } from './invalid-input.ts'

const units = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** Reads `90s`, `30m`, `1h` or `7d` as milliseconds. Throws `InvalidInput` on anything else. */
export function durationMs(field: string, text: string): number {
  const { number, unit } = /^(?<number>\d{1,6})(?<unit>[smhd])$/.exec(text)?.groups ?? {}
  if (number === undefined || !isUnit(unit)) {
    throw new InvalidInput(field, `${JSON.stringify(text)} is not a duration such as 30m, 1h or 7d`)
  }
  return Number(number) * units[unit]
}

function isUnit(unit: string | undefined): unit is keyof typeof units {
  return unit !== undefined && Object.hasOwn(units, unit)
}

/** `42 s`, `12 min`, `3 h 5 min` or `2 d 4 h`. */
export function formatDuration(ms: number): string {
  const of = (unit: number) => Math.floor(ms / unit)
  if (ms < units.m) return `${of(units.s)} s`
  if (ms < units.h) return `${of(units.m)} min`
  const [large, small] =
    ms < units.d
      ? [`${of(units.h)} h`, `${of(units.m) % 60} min`]
      : [`${of(units.d)} d`, `${of(units.h) % 24} h`]
  return small.startsWith('0') ? large : `${large} ${small}`
}

/** Reads `since`: `12h`, `1d` or a UTC date such as `2026-11-01`, as milliseconds since 1970. */
export function sinceMs(text: string, now: number): number {
  const begin = beginOf(text, now)
  if (begin > now) throw new InvalidInput('since', `${JSON.stringify(text)} is in the future`)
  // Before that, dates have signs and more than four digits.
  return Math.max(begin, 0)
}

function beginOf(text: string, now: number): number {
  const { number, unit } = /^(?<number>\d{1,6})(?<unit>[mhd])$/.exec(text)?.groups ?? {}
  if (Number(number) > 0 && isUnit(unit)) return now - Number(number) * units[unit]
  const date = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN
  if (!Number.isNaN(date)) return date
  throw new InvalidInput(
    'since',
    `${JSON.stringify(text)} is not a time: write 12h, 1d or a date such as 2026-11-01`,
  )
}
