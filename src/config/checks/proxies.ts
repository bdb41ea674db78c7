import { isIP } from 'node:net'
import type { Report } from '../reading/report.ts'
import type { Draft } from './draft.ts'

/** What a question says about its request is only as true as whoever asks. */
export function checkForwardAuth({ application, forwardAuth }: Draft, report: Report): void {
  const at = 'application.trustedProxies'
  if (forwardAuth?.enabled !== true || report.isBroken(at)) return
  if ((application?.trustedProxies ?? []).length > 0) return
  report.problem(at, `${at} is empty: name the proxies that forwardAuth answers`)
}

/** Every trusted proxy is an address or a range of them. */
export function checkProxies({ application }: Draft, report: Report): void {
  application?.trustedProxies?.forEach((range, index) => {
    const at = `application.trustedProxies[${index}]`
    if (range === undefined || report.isBroken(at)) return
    const complaint = rangeComplaint(range)
    if (complaint !== undefined) report.problem(at, `${at} ${complaint}`)
  })
}

function rangeComplaint(range: string): string | undefined {
  const [address = '', prefix] = range.split('/', 2)
  const most = { 4: 32, 6: 128 }[isIP(address)]
  if (most === undefined || range.split('/').length > 2) {
    return 'is no address and no range such as 10.0.0.0/8'
  }
  if (prefix === undefined) return undefined
  const bits = /^\d{1,3}$/.test(prefix) ? Number(prefix) : most + 1
  if (bits > most) return `must have a number from 0 to ${most} after the /`
  // Whoever is anywhere would be believed about who they are.
  return bits === 0 ? 'is every address there is: name the proxies' : undefined
}
