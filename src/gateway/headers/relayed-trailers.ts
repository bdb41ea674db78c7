import { grpcType } from '../arrival/grpc-type.ts'
import { hopByHop } from './relayed-headers.ts'

/** Relays an upstream's trailers to a client that has sent `TE: trailers`. */
export type RelayTrailers = ReturnType<typeof relayWithout>

/** By the content type of the request. */
export type RelayTrailersOf = (contentType: string | undefined) => RelayTrailers

/**
 * RFC 9110 6.5.1: a trailer must not change how its message is framed, routed, authenticated, cached
 * or read, so such names are withheld: some clients merge trailers into the headers. gRPC keeps its
 * trailing metadata apart and leaves all names to the service, so only those of the connection are
 * withheld there. The identity names are withheld in both.
 */
export function createRelayTrailers(injectedNames: readonly string[]): RelayTrailersOf {
  const own = injectedNames.map((name) => name.toLowerCase())
  const http = relayWithout(new Set([...headersOnly, ...own]), family)
  const grpc = relayWithout(new Set([...hopByHop, 'host', ...own]), ownFamily)
  return (contentType) => (grpcType(contentType) === undefined ? http : grpc)
}

/** Values that Node refuses to write are dropped. */
function relayWithout(withheld: ReadonlySet<string>, families: RegExp) {
  const mayPass = (name: string) =>
    tokenForm.test(name) && !withheld.has(name) && !families.test(name)

  return {
    /** The value of our Trailer header, if the upstream announces trailers that may pass. */
    announced(headers: readonly string[]) {
      const names = pairsOf(headers)
        .filter(([name]) => name === 'trailer')
        .flatMap(([, value]) => value.split(','))
        .map((name) => name.trim().toLowerCase())
        .filter(mayPass)
      return names.length === 0 ? undefined : names.join(', ')
    },
    /** Pairs of name and value, from name, value, name, value … */
    relayed: (trailers: readonly string[]) =>
      pairsOf(trailers).filter(([name, value]) => mayPass(name) && valueForm.test(value)),
  }
}

/** Names become lower-case. */
function pairsOf(fields: readonly string[]): [string, string][] {
  return fields.flatMap((name, at): [string, string][] =>
    at % 2 === 0 ? [[name.toLowerCase(), fields[at + 1] ?? '']] : [],
  )
}

const tokenForm = /^[!#$%&'*+.^_`|~0-9a-z-]+$/
const valueForm = /^[\t\x20-\x7e\x80-\xff]*$/

const ownFamily = /^x-postern-/
const family = /^(?:content|proxy|access-control|sec|if|x-postern|x-forwarded)-/

const headersOnly = [
  ...['connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'host', 'via'],
  ...['authorization', 'www-authenticate', 'authentication-info', 'set-cookie', 'cookie'],
  ...['age', 'cache-control', 'clear-site-data', 'date', 'expires', 'pragma', 'vary', 'warning'],
  ...['location', 'refresh', 'retry-after', 'max-forwards', 'range', 'accept-ranges', 'expect'],
  ...['strict-transport-security', 'referrer-policy', 'alt-svc', 'link'],
]
