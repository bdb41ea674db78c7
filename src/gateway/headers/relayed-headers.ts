import { rememberNames } from '../../wire/remembered-names.ts'
import type { ResponseHead } from '../../wire/response-head.ts'
import type { Carrier } from '../arrival/notes.ts'

/** Name, value, name, value … for the client. */
export type RelayHeaders = (
  head: Pick<ResponseHead, 'headers' | 'status' | 'listed'>,
  carrier: Carrier | undefined,
) => string[]

/** How a response header is handled, by its name. */
type Relay = 'pass' | 'withhold' | 'length' | 'about-address' | 'vary'

/**
 * Relays an upstream's headers to the client, except hop-by-hop names (RFC 9110 7.6.1, CVE-2026-71849)
 * and the identity names, which are for upstreams only. `ownCors` also withholds the upstream's CORS
 * headers: browsers reject a response with two sets, and only ours is configured.
 */
export function createRelayHeaders(
  injectedNames: readonly string[],
  { ownCors = false }: { readonly ownCors?: boolean } = {},
): RelayHeaders {
  const withheld = new Set([...hopByHop, ...injectedNames.map((name) => name.toLowerCase())])
  const relayOf = rememberNames(classify)

  function classify(name: string): Relay {
    const lower = name.toLowerCase()
    if (withheld.has(lower)) return 'withhold'
    if (ownCors && lower.startsWith('access-control-')) return 'withhold'
    if (ownCors && lower === 'vary') return 'vary'
    if (lower === 'content-length') return 'length'
    return lower === 'cache-control' || lower === 'referrer-policy' ? 'about-address' : 'pass'
  }

  return ({ headers, status, listed }, carrier) => {
    const hop = listed === undefined ? undefined : namesIn(listed)
    const out: string[] = []
    let vary: string | undefined
    for (let at = 0; at < headers.length; at += 2) {
      const name = headers[at] as string
      const value = headers[at + 1] as string
      const relay = relayOf(name)
      if (relay === 'withhold' || hop?.has(name.toLowerCase())) continue
      // RFC 9110 8.6: no Content-Length with 204.
      if (relay === 'length' && status === 204) continue
      // Specification, carriers: a URL with a token must not be stored or passed on.
      if (relay === 'about-address' && carrier === 'query') continue
      if (relay === 'vary') vary = vary === undefined ? value : `${vary}, ${value}`
      else out.push(name, value)
    }
    if (vary !== undefined) out.push('Vary', withOrigin(vary))
    if (carrier === 'query') out.push(...tokenInQuery)
    return out
  }
}

/** For every response to a request with its token in the query. */
const tokenInQuery = ['Cache-Control', 'no-store', 'Referrer-Policy', 'no-referrer'] as const

/** RFC 9110 7.6.1. */
export const hopByHop: readonly string[] = [
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authentication-info',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]

function namesIn(listed: string): Set<string> {
  return new Set(listed.split(',').map((name) => name.trim().toLowerCase()))
}

/** The result replaces our own Vary header. */
function withOrigin(vary: string): string {
  const names = vary.split(',').map((name) => name.trim().toLowerCase())
  return names.includes('*') || names.includes('origin') ? vary : `${vary}, Origin`
}
