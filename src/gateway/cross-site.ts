import type { ArrivingHeaders } from './arrival/arriving-headers.ts'
import type { ClientOrigin } from './arrival/client-origin.ts'

/** What tells where a request was made, and what it was made to. */
interface Sited {
  readonly headers: Pick<ArrivingHeaders, 'origin' | 'fetchSite'>
  readonly origin: Pick<ClientOrigin, 'scheme' | 'host'>
}

/**
 * Why a request must be taken for one that a page of another site made a browser send, or
 * `undefined`. For requests that change something on the word of a cookie, and for upgrades: a
 * tunnel changes things although it begins with a GET.
 */
export type FindCrossSite = (request: Sited) => string | undefined

/**
 * The rule, in this order: a trusted origin passes; `Sec-Fetch-Site` decides where it is sent, and
 * only `same-origin` and `none` (typed, bookmarked) pass; else `Origin` must be that of the Host.
 * Browsers let no page change these headers. A request with neither passes: every browser of the
 * last years sends `Origin` with an unsafe request, so that it comes from something else, which
 * sends a cookie only when it means to.
 */
export function createCrossSite(trustedOrigins: readonly string[]): FindCrossSite {
  const trusted = new Set(trustedOrigins)

  return ({ headers: { origin, fetchSite }, origin: asked }) => {
    if (origin !== undefined && trusted.has(origin.toLowerCase())) return undefined
    if (fetchSite !== undefined) {
      const own = fetchSite === 'same-origin' || fetchSite === 'none'
      return own ? undefined : `Sec-Fetch-Site is ${isWord(fetchSite) ? fetchSite : 'malformed'}`
    }
    if (origin === undefined || isOwn(origin, asked)) return undefined
    return 'Origin is not our own'
  }
}

/**
 * `https` is certain, `http` is not: TLS may have ended before us at a proxy that does not say so,
 * so both schemes of our own name pass there. Host may write the default port out, Origin never does.
 */
function isOwn(origin: string, { scheme, host }: Sited['origin']): boolean {
  const match = /^(https?):\/\/([^/]+)$/.exec(origin.toLowerCase())
  if (match === null || host === undefined) return false
  const [, originScheme, originHost] = match
  if (scheme === 'https' && originScheme !== 'https') return false
  const defaultPort = originScheme === 'https' ? /:443$/ : /:80$/
  return host.toLowerCase().replace(defaultPort, '') === originHost
}

/** The word goes into the log: nothing longer than one of its kind. */
function isWord(text: string): boolean {
  return /^[a-z-]{1,16}$/.test(text)
}
