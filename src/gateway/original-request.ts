import { Refusal } from '../kernel/errors.ts'
import type { Arrival } from './arrival/arrival.ts'
import type { IsTrusted } from './arrival/trusted-peers.ts'

/** The forward-auth contracts, named after the proxies that use them. */
type Contract = 'nginx' | 'traefik' | 'envoy'

interface OriginalRequest {
  readonly contract: Contract
  readonly arrival: Arrival
}

export type ReadOriginal = (check: Arrival) => OriginalRequest

/**
 * Reads the original request from a forward-auth request. The path selects the contract, and the
 * contract says where method and target are. Nothing else is read: a proxy that sets one place passes
 * on what the client wrote in the others (CVE-2026-40575). Refuses a peer that is not a trusted proxy,
 * an unknown path, and a method or target that is missing or duplicated.
 */
export function createOriginalReader(isTrusted: IsTrusted): ReadOriginal {
  return (check) => {
    if (!isTrusted(check.remoteAddress)) {
      throw new Refusal('bad-request', { reason: 'peer is not a trusted proxy' })
    }
    const { contract, method, target } = originalOf(check)
    check.notes.contract = contract
    // The method is logged and counted, so only method names may pass.
    if (!/^[A-Z][A-Z-]{0,31}$/.test(method)) {
      throw new Refusal('bad-request', { reason: 'malformed original method' })
    }
    check.notes.method = method
    return { contract, arrival: { ...check, method, target, upgrade: upgradeOf(check) } }
  }
}

const envoyPrefix = '/auth/envoy'
const traefikPath = '/auth/traefik'

function originalOf(check: Arrival): Pick<Arrival, 'method' | 'target'> & { contract: Contract } {
  if (check.target === '/auth/nginx') {
    return named(check, 'nginx', 'X-Original-Method', 'X-Original-URI')
  }
  // Caddy appends the client's query here too. The header is what counts.
  if (check.target === traefikPath || check.target.startsWith(`${traefikPath}?`)) {
    return named(check, 'traefik', 'X-Forwarded-Method', 'X-Forwarded-Uri')
  }
  // Cut the prefix off as text, before decoding, so that no dot segment escapes from it.
  if (check.target.startsWith(`${envoyPrefix}/`)) {
    const target = check.target.slice(envoyPrefix.length)
    return { contract: 'envoy', method: check.method, target }
  }
  throw new Refusal('no-such-endpoint', { reason: 'not a forward-auth path' })
}

function named(check: Arrival, contract: Contract, methodName: string, targetName: string) {
  return { contract, method: only(check, methodName), target: only(check, targetName) }
}

/** A proxy replaces the client's headers with these names; two values mean that it did not. */
function only({ rawHeaders }: Arrival, name: string): string {
  const values = valuesOf(rawHeaders, name)
  const [value] = values
  if (value === undefined || values.length > 1) {
    const reason = `${value === undefined ? 'no' : 'more than one'} ${name} header`
    throw new Refusal('bad-request', { reason })
  }
  return value
}

function valuesOf(rawHeaders: readonly string[], name: string): string[] {
  const lower = name.toLowerCase()
  return rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === lower)
}

/**
 * Most proxies remove Upgrade, which is hop-by-hop. Every WebSocket handshake over HTTP/1.1 has
 * Sec-WebSocket-Key too, and no page can remove it; over HTTP/2 it lacks the key, and Envoy reports
 * Upgrade. Through such a GET a page can send anything, so it must count as an upgrade.
 */
function upgradeOf({ rawHeaders }: Arrival): Arrival['upgrade'] {
  const hasKey = valuesOf(rawHeaders, 'Sec-WebSocket-Key').length > 0
  if (!hasKey && !valuesOf(rawHeaders, 'Upgrade').some((value) => /websocket/i.test(value))) {
    return undefined
  }
  return { protocol: 'websocket', head: Buffer.alloc(0) }
}
