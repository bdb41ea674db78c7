import type { Observation } from '../../../answers/usage/observation.ts'
import { count } from '../../format.ts'

/** `observed 2 of 30 days: 27 hours since 2026-11-15 11:00 UTC, 1,204 decisions`. */
export function observedInWords({
  days,
  observedDays,
  hours,
  from = 0,
  decisions,
}: Observation): string {
  const facts = [`${count(hours, 'hour')} since ${timeInWords(from)}`, count(decisions, 'decision')]
  return `observed ${observedDays} of ${count(days, 'day')}: ${facts.join(', ')}`
}

/** `2026-11-16 14:02 UTC`. */
export function timeInWords(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}
