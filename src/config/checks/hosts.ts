import { domainToASCII } from 'node:url'
import { canonicalHost } from '../../admission/canonical-host.ts'
import { subject } from '../../kernel/quote.ts'
import type { Report } from '../reading/report.ts'
import type { Draft } from '../schema/schema.ts'

/** Hosts are compared with canonical hosts: one that is not canonical would never match. */
export function checkHosts({ application, login, routes }: Draft, report: Report): void {
  report.checkEach('application.hosts', application?.hosts, hostProblem)
  report.checkEach('login.page.hosts', login?.page?.hosts, hostProblem)
  routes?.forEach((route, index) => {
    report.checkEach(`routes[${index}].hosts`, route?.hosts, hostProblem)
  })
}

function hostProblem(pattern: string): string | undefined {
  const wildcard = pattern.startsWith('*.') ? '*.' : ''
  const host = pattern.slice(wildcard.length)
  // URL parsers also accept names in other scripts, and browsers send what they make of them.
  const ascii = /[^\x20-\x7e]/.test(host) ? domainToASCII(host) : host
  const canonical = canonicalHost(ascii)
  const shown = subject(pattern)
  if (canonical === undefined) {
    return `${shown} is not a host; write a name such as api.example.com, or *.example.com`
  }
  if (wildcard !== '' && /^\[|\.\d+$/.test(canonical)) {
    return `${shown}: an IP address has no names below it; remove *.`
  }
  if (canonical === host) return undefined
  return `${shown} is not in canonical form; write ${wildcard}${canonical}`
}
