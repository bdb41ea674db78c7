import { KEPT_DAYS } from '../../../policy/usage/usage.ts'
import { UsageError } from '../../command.ts'

const unitMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 }

/** How many UTC days, today included, reach back to a time such as `12h`, `1d` or `2026-11-01`. */
export function daysSince(text: string, now: number): number {
  const begin = beginOf(text, now)
  const days = Math.floor(now / 86_400_000) - Math.floor(begin / 86_400_000) + 1
  if (begin > now) throw new UsageError(`--since: ${JSON.stringify(text)} is in the future`)
  if (days > KEPT_DAYS + 1) {
    throw new UsageError(
      `--since: counts are kept for ${KEPT_DAYS} days: give ${KEPT_DAYS}d or less`,
    )
  }
  return Math.min(days, KEPT_DAYS)
}

function beginOf(text: string, now: number): number {
  const [, number, unit = ''] = /^(\d{1,6})([mhd])$/.exec(text) ?? []
  if (number !== undefined && Number(number) > 0) return now - Number(number) * (unitMs[unit] ?? 0)
  const date = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN
  if (!Number.isNaN(date)) return date
  throw new UsageError(
    `--since: ${JSON.stringify(text)} is not a time: write 12h, 1d or a date such as 2026-11-01`,
  )
}
