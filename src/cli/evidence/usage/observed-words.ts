import type { Observation } from '../../../answers/usage/observation.ts'
import { count } from '../../format.ts'

/** `observed 2 of 30 days: 2026-11-15 to 2026-11-16, 27 hours, 1,204 decisions`. */
export function observedInWords(observation: Observation): string {
  const { days, observedDays, hours, from = '', to = '', decisions } = observation
  const range = from === to ? from : `${from} to ${to}`
  const facts = [range, count(hours, 'hour'), count(decisions, 'decision')]
  return `observed ${observedDays} of ${count(days, 'day')}: ${facts.join(', ')}`
}

/** `2026-11-16 14:02 UTC`. */
export function timeInWords(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}
