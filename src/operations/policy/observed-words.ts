import { count } from '../../kernel/count.ts'
import type { DocumentOf } from '../operation.ts'
import type { policyDenials } from './evidence-descriptions.ts'

type Observed = DocumentOf<typeof policyDenials>['observed']

/** `observed 2 of 30 days: 27 hours since 2026-11-15 11:00 UTC, 1,204 decisions`. */
export function observedInWords({ days, observedDays, hours, from, decisions }: Observed): string {
  const since = timeInWords(from ?? new Date(0).toISOString())
  const facts = [`${count(hours, 'hour')} since ${since}`, count(decisions, 'decision')]
  return `observed ${observedDays} of ${count(days, 'day')}: ${facts.join(', ')}`
}

/** `2026-11-16 14:02 UTC`. */
export function timeInWords(time: string): string {
  return `${time.slice(0, 16).replace('T', ' ')} UTC`
}
