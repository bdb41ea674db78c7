import type { ArrivingHeaders } from './arrival/arriving-headers.ts'
import type { ClientOrigin } from './arrival/client-origin.ts'

/** The page that made a request, and the origin it was sent to. */
interface Sited {
  readonly headers: Pick<ArrivingHeaders, 'origin' | 'fetchSite'>
  readonly origin: Pick<ClientOrigin, 'scheme' | 'host'>
}

/**
 * Why a request counts as sent by a page of another site, or `undefined`. For requests that change
 * state with a cookie as credential, and for upgrades: a tunnel can change state although it begins
 * with a GET.
 */
export type FindCrossSite = (request: Sited) => string | undefined

/**
 * In this order: a trusted origin passes. If `Sec-Fetch-Site` is there it decides: only `same-origin`
 * and `none` (typed, bookmarked) pass. Otherwise `Origin` must match the Host. Pages cannot change
 * these headers. A request with neither passes: every recent browser sends `Origin` with an unsafe
 * request, so the client is not a browser and sends a cookie only on purpose.
 */
export function createCrossSite(trustedOrigins: readonly string[]): FindCrossSite {
  const trusted = new Set(trustedOrigins)

  return ({ headers: { origin, fetchSite }, origin: target }) => {
    if (origin !== undefined && trusted.has(origin.toLowerCase())) return undefined
    if (fetchSite !== undefined) {
      const own = fetchSite === 'same-origin' || fetchSite === 'none'
      return own ? undefined : `Sec-Fetch-Site is ${isWord(fetchSite) ? fetchSite : 'malformed'}`
    }
    if (origin === undefined || isOwn(origin, target)) return undefined
    return 'Origin is not our own'
  }
}

/**
 * `http` is uncertain: a proxy may terminate TLS without reporting it, so then both schemes of our own
 * host pass. Host may contain the default port, Origin never does.
 */
function isOwn(origin: string, { scheme, host }: Sited['origin']): boolean {
  const match = /^(https?):\/\/([^/]+)$/.exec(origin.toLowerCase())
  if (match === null || host === undefined) return false
  const [, originScheme, originHost] = match
  if (scheme === 'https' && originScheme !== 'https') return false
  const defaultPort = originScheme === 'https' ? /:443$/ : /:80$/
  return host.toLowerCase().replace(defaultPort, '') === originHost
}

/** The value is logged, so only short lower-case words pass. */
function isWord(text: string): boolean {
  return /^[a-z-]{1,16}$/.test(text)
}
