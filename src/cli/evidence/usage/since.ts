import { sinceMs } from '../../../operations/since.ts'
import { KEPT_DAYS } from '../../../policy/usage/usage.ts'
import { UsageError } from '../../command.ts'

/** How many UTC days, today included, reach back to a time such as `12h`, `1d` or `2026-11-01`. */
export function daysSince(text: string, now: number): number {
  const begin = sinceMs(text, now)
  const days = Math.floor(now / 86_400_000) - Math.floor(begin / 86_400_000) + 1
  if (days > KEPT_DAYS + 1) {
    throw new UsageError(
      `--since: counts are kept for ${KEPT_DAYS} days: give ${KEPT_DAYS}d or less`,
    )
  }
  return Math.min(days, KEPT_DAYS)
}
