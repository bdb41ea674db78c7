import { Refusal } from '../errors.ts'
import type { Arrival } from './arrival/arrival.ts'
import type { IsTrusted } from './arrival/trusted-peers.ts'

/** The proxies that ask before they forward, each by its own contract. */
export type Contract = 'nginx' | 'traefik' | 'envoy'

/** A question of a proxy, turned into the request that it is about. */
interface OriginalRequest {
  readonly contract: Contract
  readonly arrival: Arrival
}

export type ReadOriginal = (check: Arrival) => OriginalRequest

/**
 * Reads the request that a proxy asks about. The path of the question names the contract, which
 * says where method and target stand, and nothing else is looked at: a proxy that tells them in one
 * place passes what the client wrote in the others (CVE-2026-40575). Refuses a peer that is no
 * trusted proxy, an unknown path, and a method or target that is missing or there twice.
 */
export function createOriginalReader(isTrusted: IsTrusted): ReadOriginal {
  return (check) => {
    if (!isTrusted(check.remoteAddress)) {
      throw new Refusal('bad-request', { reason: 'peer is not a trusted proxy' })
    }
    const { contract, method, target } = questionOf(check)
    check.notes.contract = contract
    // What a client calls its method is logged and counted: no other text may come in here.
    if (!/^[A-Z][A-Z-]{0,31}$/.test(method)) {
      throw new Refusal('bad-request', { reason: 'malformed original method' })
    }
    check.notes.method = method
    return { contract, arrival: { ...check, method, target, upgrade: upgradeOf(check) } }
  }
}

const envoyPrefix = '/auth/envoy'
const traefikPath = '/auth/traefik'

function questionOf(check: Arrival): Pick<Arrival, 'method' | 'target'> & { contract: Contract } {
  if (check.target === '/auth/nginx') {
    return named(check, 'nginx', 'X-Original-Method', 'X-Original-URI')
  }
  // Caddy puts the client's query behind it. It is in the header too, where it is read.
  if (check.target === traefikPath || check.target.startsWith(`${traefikPath}?`)) {
    return named(check, 'traefik', 'X-Forwarded-Method', 'X-Forwarded-Uri')
  }
  // Cut off as text and before anything is decoded, so that no dot segment climbs out of it.
  if (check.target.startsWith(`${envoyPrefix}/`)) {
    const target = check.target.slice(envoyPrefix.length)
    return { contract: 'envoy', method: check.method, target }
  }
  throw new Refusal('no-such-endpoint', { reason: 'not a forward-auth path' })
}

function named(check: Arrival, contract: Contract, methodName: string, targetName: string) {
  return { contract, method: only(check, methodName), target: only(check, targetName) }
}

/** A proxy replaces what the client sent under these names; two of them mean that it did not. */
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
 * Proxies leave out Upgrade, which is hop-by-hop, but not this header, which every WebSocket
 * handshake has and no page can take off. Such a GET does whatever its page wants.
 */
function upgradeOf({ rawHeaders }: Arrival): Arrival['upgrade'] {
  if (valuesOf(rawHeaders, 'Sec-WebSocket-Key').length === 0) return undefined
  return { protocol: 'websocket', head: Buffer.alloc(0) }
}
