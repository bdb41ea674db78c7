import { isIPv4, isIPv6 } from 'node:net'
import { hostname, networkInterfaces } from 'node:os'
import type { Draft } from './draft.ts'
import type { Report } from './report.ts'

/** Hosts to listen on are addresses or names, and no target leads back to one of them. */
export function checkListeners(draft: Draft, report: Report): void {
  const listeners = listenersOf(draft)
  for (const { name, host } of listeners) {
    const at = `${name}.host`
    if (host === undefined || report.isBroken(at)) continue
    const complaint = hostComplaint(host, name)
    if (complaint !== undefined) report.problem(at, `${at}: ${complaint}`)
  }
  for (const [name, upstream] of Object.entries(draft.upstreams ?? {})) {
    upstream?.targets?.forEach((target, index) => {
      const at = `upstreams.${name}.targets[${index}]`
      if (target === undefined || report.isBroken(at)) return
      const own = listeners.find((listener) => leadsTo(target, listener))
      if (own === undefined) return
      report.problem(
        at,
        `${at}: ${target} is this gateway itself (${own.name}.port): requests would go round in a loop; name the service`,
      )
    })
  }
}

interface Listener {
  readonly name: 'application' | 'ops' | 'forwardAuth'
  readonly host: string | undefined
  readonly port: number | undefined
}

function listenersOf({ application, ops, forwardAuth }: Draft): readonly Listener[] {
  return [
    { name: 'application', host: application?.host, port: application?.port },
    { name: 'ops', host: ops?.host, port: ops?.port },
    ...(forwardAuth?.enabled
      ? [{ name: 'forwardAuth', host: forwardAuth.host, port: forwardAuth.port } as const]
      : []),
  ]
}

function hostComplaint(host: string, name: string): string | undefined {
  const shown = JSON.stringify(host)
  const [, alone, port] = /^([^:]+):(\d+)$/.exec(host) ?? []
  if (port !== undefined) {
    return `${shown} is not an address or a host name: set ${name}.host to ${alone} and ${name}.port to ${port}`
  }
  if (host.includes(':')) return isIPv6(host) ? undefined : `${shown} is not an IPv6 address`
  // A name that ends in a number would be read as an address.
  return /(?:^|\.)\d+\.?$/.test(host) && !isIPv4(host)
    ? `${shown} is not an IPv4 address`
    : undefined
}

/** Whether a connection to the target arrives at the listener, as far as that can be told here. */
function leadsTo(target: string, { host: own, port }: Listener): boolean {
  const url = URL.parse(target)
  if (url === null || own === undefined || port === undefined || port === 0) return false
  if (Number(url.port || (url.protocol === 'https:' ? 443 : 80)) !== port) return false
  const host = url.hostname.toLowerCase().replace(/^\[|\]$/g, '')
  if (host === own.toLowerCase()) return true
  if (isLoopback(host) || isAny(host)) return isAny(own) || sameLoopback(host, own)
  return isAny(own) && isOfThisMachine(host)
}

/** The operating system takes a connection to "any address" for one to loopback. */
function isAny(host: string): boolean {
  return host === '0.0.0.0' || host === '::'
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.')
}

function sameLoopback(host: string, own: string): boolean {
  const usual = ['127.0.0.1', 'localhost', '::1', '0.0.0.0', '::']
  return usual.includes(host) && usual.includes(own.toLowerCase())
}

function isOfThisMachine(host: string): boolean {
  if (host === hostname().toLowerCase()) return true
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  return all.some(({ address }) => address === host)
}
