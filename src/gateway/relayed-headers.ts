import type { Carrier } from './stages.ts'

/** Response headers as undici hands them over: lower-case names, repeated ones as a list. */
export type UpstreamResponseHeaders = Readonly<Record<string, string | string[] | undefined>>

export type RelayHeaders = (
  headers: UpstreamResponseHeaders,
  status: number,
  carrier: Carrier | undefined,
) => string[]

/**
 * What of an upstream's headers reaches the client. Hop-by-hop names end here (RFC 9110 7.6.1,
 * CVE-2026-71849), and so do the identity names: what we tell upstreams is not for clients. With
 * `ownCors`, what an upstream says about other origins does too: with two answers, browsers take
 * neither, and only ours is in the configuration.
 */
export function createRelayHeaders(
  injectedNames: readonly string[],
  { ownCors = false }: { readonly ownCors?: boolean } = {},
): RelayHeaders {
  const withheld = new Set([...hopByHop, ...injectedNames.map((name) => name.toLowerCase())])

  return (headers, status, carrier) => {
    const listed = namesIn(headers['connection'])
    const out: string[] = []
    for (const name of Object.keys(headers)) {
      if (withheld.has(name) || listed?.has(name)) continue
      if (ownCors && name.startsWith('access-control-')) continue
      // RFC 9110 8.6: no Content-Length with 204, and Node would not send it either.
      if (name === 'content-length' && status === 204) continue
      // Spec, carriers: an address with a token in it must not be stored or passed on.
      if (carrier === 'query' && (name === 'cache-control' || name === 'referrer-policy')) continue
      if (ownCors && name === 'vary') out.push(name, withOrigin(headers[name]))
      else pushAll(out, name, headers[name])
    }
    if (carrier === 'query') out.push(...tokenInAddress)
    return out
  }
}

/** For every answer to a request whose token stood in its address. */
const tokenInAddress = ['Cache-Control', 'no-store', 'Referrer-Policy', 'no-referrer'] as const

const hopByHop = [
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

function namesIn(connection: string | string[] | undefined): Set<string> | undefined {
  if (connection === undefined) return undefined
  const text = Array.isArray(connection) ? connection.join(',') : connection
  if (/^(?:keep-alive|close)$/i.test(text)) return undefined
  return new Set(text.split(',').map((name) => name.trim().toLowerCase()))
}

/** What is written here takes the place of our own Vary. */
function withOrigin(vary: string | string[] | undefined): string {
  const text = Array.isArray(vary) ? vary.join(', ') : (vary ?? '')
  const names = text.split(',').map((name) => name.trim().toLowerCase())
  return names.includes('*') || names.includes('origin') ? text : `${text}, Origin`
}

function pushAll(out: string[], name: string, value: string | string[] | undefined): void {
  if (typeof value === 'string') out.push(name, value)
  else for (const one of value ?? []) out.push(name, one)
}
