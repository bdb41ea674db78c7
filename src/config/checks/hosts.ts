import { domainToASCII } from 'node:url'
import { canonicalHost } from '../../admission/canonical-host.ts'
import { subject } from '../../kernel/quote.ts'
import type { Report } from '../reading/report.ts'
import type { Draft } from '../schema/schema.ts'

/** Hosts are compared with canonical hosts: one that is not canonical would never match. */
export function checkHosts({ application, login, routes }: Draft, report: Report): void {
  checkList('application.hosts', application?.hosts, report)
  checkList('login.page.hosts', login?.page?.hosts, report)
  routes?.forEach((route, index) => {
    checkList(`routes[${index}].hosts`, route?.hosts, report)
  })
}

function checkList(
  setting: string,
  hosts: readonly (string | undefined)[] | undefined,
  report: Report,
): void {
  hosts?.forEach((host, index) => {
    const at = `${setting}[${index}]`
    if (host === undefined || report.hasProblem(at)) return
    const problem = hostProblem(host)
    if (problem !== undefined) report.problem(at, `: ${problem}`)
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
