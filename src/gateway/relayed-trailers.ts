import type { UpstreamResponseHeaders } from './relayed-headers.ts'

/** What of an upstream's trailers reaches a client that has said `TE: trailers`. */
export interface RelayTrailers {
  /** The names to announce with Trailer, if the upstream has announced any that may pass. */
  readonly announced: (headers: UpstreamResponseHeaders) => string | undefined
  readonly relayed: (trailers: UpstreamResponseHeaders) => readonly [string, string][]
}

/**
 * RFC 9110 6.5.1: nothing behind a body may change how the message before it is framed, routed,
 * authenticated, cached or read, so such names end here, and so do the identity names. Values that
 * Node would not write are left out.
 */
export function createRelayTrailers(injectedNames: readonly string[]): RelayTrailers {
  const withheld = new Set([...headersOnly, ...injectedNames.map((name) => name.toLowerCase())])
  const mayPass = (name: string) =>
    tokenForm.test(name) && !withheld.has(name) && !family.test(name)

  return {
    announced(headers) {
      const names = String(headers['trailer'] ?? '')
        .split(',')
        .map((name) => name.trim().toLowerCase())
        .filter(mayPass)
      return names.length === 0 ? undefined : names.join(', ')
    },
    relayed: (trailers) =>
      Object.keys(trailers)
        .filter(mayPass)
        .flatMap((name) => [trailers[name] ?? []].flat().map((value) => [name, value] as const))
        .filter((field): field is [string, string] => valueForm.test(field[1])),
  }
}

const tokenForm = /^[!#$%&'*+.^_`|~0-9a-z-]+$/
const valueForm = /^[\t\x20-\x7e\x80-\xff]*$/

const family = /^(?:content|proxy|access-control|sec|if|x-postern|x-forwarded)-/

const headersOnly = [
  ...['connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'host', 'via'],
  ...['authorization', 'www-authenticate', 'authentication-info', 'set-cookie', 'cookie'],
  ...['age', 'cache-control', 'clear-site-data', 'date', 'expires', 'pragma', 'vary', 'warning'],
  ...['location', 'refresh', 'retry-after', 'max-forwards', 'range', 'accept-ranges', 'expect'],
  ...['strict-transport-security', 'referrer-policy', 'alt-svc', 'link'],
]
