import { isIPv4, isIPv6 } from 'node:net'
import { hostname, networkInterfaces } from 'node:os'
import type { Report } from '../reading/report.ts'
import type { Draft } from '../schema/schema.ts'
import { urlOf } from './forwarding/upstreams.ts'

/** Hosts to listen on are addresses or names, and no target is one of our own listeners. */
export function checkListeners(draft: Draft, report: Report): void {
  const listeners = listenersOf(draft)
  for (const { name, host, problem } of listeners) {
    report.check(`${name}.host`, host, () => problem)
  }
  for (const [name, upstream] of Object.entries(draft.upstreams ?? {})) {
    report.checkEach(`upstreams.${name}.targets`, upstream?.targets?.map(urlOf), (target) => {
      const own = listeners.find((listener) => leadsTo(target, listener))
      return own === undefined
        ? undefined
        : `${target} is this gateway itself (${own.name}.port), so requests would loop; use the address of the service`
    })
  }
}

export type Listener = ReturnType<typeof listener>

/** The enabled listeners of a gateway. */
export function listenersOf(draft: Draft): readonly Listener[] {
  const { application, ops, forwardAuth } = draft
  return [
    listener('application', application),
    listener('ops', ops),
    ...(forwardAuth?.enabled ? [listener('forwardAuth', forwardAuth)] : []),
    ...(draft.console?.enabled ? [listener('console', draft.console)] : []),
  ]
}

/** `problem`: why no machine can listen on the host. */
function listener(
  name: 'application' | 'ops' | 'forwardAuth' | 'console',
  section: { readonly host?: string; readonly port?: number } | undefined,
) {
  const { host, port } = section ?? {}
  return { name, host, port, problem: host === undefined ? undefined : hostProblem(host, name) }
}

function hostProblem(host: string, name: string): string | undefined {
  const shown = JSON.stringify(host)
  const [, alone, port] = /^([^:]+):(\d+)$/.exec(host) ?? []
  if (port !== undefined) {
    return `${shown} is not an address or a host name: set ${name}.host to ${alone} and ${name}.port to ${port}`
  }
  if (host.includes(':'))
    return isIPv6(host) ? undefined : `${shown} is not an IPv6 address; use one such as ::1`
  // Resolvers parse a name that ends in a number as an address.
  return /(?:^|\.)\d+\.?$/.test(host) && !isIPv4(host)
    ? `${shown} is not an IPv4 address; use one such as 127.0.0.1`
    : undefined
}

/** Whether a connection to the target reaches the listener, as far as this machine can tell. */
function leadsTo(target: string, { host, port }: Listener): boolean {
  const url = URL.parse(target)
  if (url === null || host === undefined || port === undefined || port === 0) return false
  if (Number(url.port || (url.protocol === 'https:' ? 443 : 80)) !== port) return false
  const [there, own] = [canonical(url.hostname), canonical(host)]
  if (there === own) return true
  if (there === canonical(hostname())) return isAny(own)
  return addressesOf(there).some((address) => accepts(own, address))
}

/** One spelling for each address and name. */
function canonical(host: string): string {
  const bare = host.toLowerCase().replace(/^\[|\]$/g, '')
  if (!isIPv6(bare)) return bare.replace(/\.$/, '')
  const short = URL.parse(`http://[${bare}]`)?.hostname.slice(1, -1) ?? bare
  const [, high, low] = /^::ffff:([0-9a-f]+):([0-9a-f]+)$/.exec(short) ?? []
  if (high === undefined || low === undefined) return short
  const bytes = [high, low].flatMap((half) => [Number(`0x${half}`) >> 8, Number(`0x${half}`) & 255])
  return bytes.join('.')
}

function isAny(host: string): boolean {
  return host === '0.0.0.0' || host === '::'
}

/** Where a connection to this host goes: for "any address", the system connects to loopback. */
function addressesOf(host: string): readonly string[] {
  if (host === 'localhost' || host.endsWith('.localhost')) return ['127.0.0.1', '::1']
  if (host === '0.0.0.0') return ['127.0.0.1']
  return [host === '::' ? '::1' : host]
}

function accepts(own: string, address: string): boolean {
  if (own === '::') return isOfThisMachine(address)
  if (own === '0.0.0.0') return isIPv4(address) && isOfThisMachine(address)
  return addressesOf(own).includes(address)
}

function isOfThisMachine(address: string): boolean {
  if (address === '::1' || (isIPv4(address) && address.startsWith('127.'))) return true
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  return all.some((one) => one.address === address)
}
