import { isIP } from 'node:net'
import { subject } from '../../../kernel/quote.ts'
import type { Report } from '../../reading/report.ts'
import type { Draft } from '../../schema/schema.ts'

/** A forward-auth request describes another request, so only trusted proxies may send one. */
export function checkForwardAuth({ application, forwardAuth }: Draft, report: Report): void {
  const at = 'application.trustedProxies'
  if (forwardAuth?.enabled !== true || report.hasProblem(at)) return
  if ((application?.trustedProxies ?? []).length > 0) return
  report.problem(
    at,
    ' is required when forwardAuth is enabled: list the proxies that send forward-auth requests',
  )
}

/** Every trusted proxy is an IP address or a CIDR range. */
export function checkProxies({ application }: Draft, report: Report): void {
  report.checkEach(
    'application.trustedProxies',
    application?.trustedProxies,
    (range) => rangeProblem(range) ?? everyoneProblem(range),
  )
}

/** Any client could then forge its address in X-Forwarded-For. */
function everyoneProblem(range: string): string | undefined {
  return /\/0+$/.test(range) ? `${range} trusts everyone; list your proxies` : undefined
}

/** Why the text is not an IP address or a CIDR range. */
export function rangeProblem(range: string): string | undefined {
  const [address = '', prefix] = range.split('/', 2)
  const most = { 4: 32, 6: 128 }[isIP(address)]
  if (most === undefined || range.split('/').length > 2) {
    return `${subject(range)} is not an IP address or a range such as 10.0.0.0/8`
  }
  if (prefix === undefined) return undefined
  const bits = /^\d{1,3}$/.test(prefix) ? Number(prefix) : most + 1
  if (bits <= most) return undefined
  return `${subject(range)} has an invalid prefix length; use /1 to /${most}`
}
