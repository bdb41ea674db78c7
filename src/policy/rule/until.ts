import { quote } from './rule.ts'

/** A clock in milliseconds since 1970. */
export type Clock = () => number

/** What may have a last moment: a rule, an inheritance or an exclusion. */
export interface Expiring {
  /** The first millisecond at which gateways ignore it; absent: they never do. */
  readonly until?: number
}

/** The moment from which something is ignored: `Infinity` for what never expires. */
export function endOf({ until }: Expiring): number {
  return until ?? Number.POSITIVE_INFINITY
}

/** Whether gateways ignore it at this time. */
export function isExpired({ until }: Expiring, at: number): boolean {
  return until !== undefined && until <= at
}

/** `2026-12-01`, or `2026-12-01T18:00:00Z` for any other time than the start of a day in UTC. */
export function formatUntil(until: number): string {
  const text = new Date(until).toISOString()
  return text.replace('T00:00:00.000Z', '').replace('.000Z', 'Z')
}

/** A date or an RFC 3339 time as milliseconds, or a sentence that says what is wrong with it. */
export function parseUntil(text: string): number | string {
  const parts = dateOrTime.exec(text)
  if (parts === null) return isLocalTime.test(text) ? withoutOffset(text) : notATime(text)
  const [, date = '', clock = '00:00:00', fraction = '', offset = 'Z'] = parts
  const local = Date.parse(`${date}T${clock}${fraction}Z`)
  // Date.parse takes February 30 for March 2, and 24:00 for the next day.
  if (Number.isNaN(local) || !new Date(local).toISOString().startsWith(`${date}T${clock}`)) {
    return notATime(text)
  }
  const [, sign, hours = '0', minutes = '0'] = /^([+-])(\d\d):(\d\d)$/.exec(offset) ?? []
  if (Number(hours) > 23 || Number(minutes) > 59) return notATime(text)
  const shift = (Number(hours) * 60 + Number(minutes)) * 60_000
  return sign === '-' ? local + shift : local - shift
}

const dateOrTime = /^(\d{4}-\d\d-\d\d)(?:[Tt](\d\d:\d\d:\d\d)(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d))?$/
const isLocalTime = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d(?::\d\d)?(?:\.\d+)?$/

function notATime(text: string): string {
  return `${quote(text)} is not a date: write one such as 2026-12-01, which means 00:00 UTC, or a time such as 2026-12-01T18:00:00Z`
}

function withoutOffset(text: string): string {
  return `${quote(text)} has no time zone: append Z for UTC, or an offset such as +02:00`
}
