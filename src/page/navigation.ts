import type { OwnEndpoint } from '../admission/own-endpoints.ts'
import type { Returns } from '../admission/return-addresses.ts'
import type { Arrival } from '../gateway/arrival/arrival.ts'
import { Refusal, type RefusalKind } from '../kernel/errors.ts'
import { withoutToken } from './address.ts'
import { nameOfError } from './login-errors.ts'

/** Refusals that a login cures. */
const curable: ReadonlySet<RefusalKind> = new Set<RefusalKind>([
  'token-missing',
  'token-invalid',
  'token-expired',
  'token-too-long-lived',
  'token-revoked',
])

const providerEndpoints: ReadonlySet<string> = new Set<OwnEndpoint['name']>([
  'oidc-begin',
  'oidc-callback',
])

interface RedirectParts {
  readonly path: string
  /** Where browsers reach the page, if it may be on another host. */
  readonly url: string | undefined
  readonly returns: Returns
  /** The host that the browser asked. */
  readonly hostOf: (arrival: Arrival) => string | undefined
}

/**
 * Sends a browser that opens a protected page without a login to the login page, and back from there.
 * Every other client gets the refusal, which it can read. A form of the page itself whose login has
 * ended goes there too, and so does a login at a provider that failed.
 */
export function createLoginRedirect({ path: pagePath, url, returns, hostOf }: RedirectParts) {
  return locationOf

  function locationOf(error: unknown, arrival: Arrival): string | undefined {
    if (providerEndpoints.has(arrival.notes.route ?? '')) return providerError(error, arrival)
    if (!(error instanceof Refusal) || !curable.has(error.kind)) return undefined
    const isOwnForm = arrival.notes.path?.startsWith(`${pagePath}/`) && arrival.method === 'POST'
    if (!isOwnForm && !isNavigation(arrival)) return undefined
    const host = url === undefined ? undefined : hostOf(arrival)
    const to = withoutToken(returns.back(host, arrival.target))
    const page = url ?? pagePath
    return to === undefined ? page : `${page}?${new URLSearchParams({ to })}`
  }

  function providerError(thrown: unknown, arrival: Arrival): string | undefined {
    const error = nameOfError(thrown)
    if (error === undefined || !isNavigation(arrival)) return undefined
    const query = new URLSearchParams(arrival.target.split('?').slice(1).join('?'))
    if (query.get('mode') === 'json') return undefined
    const to = withoutToken(returns.read(arrival.notes.returnTo ?? query.get('to') ?? ''))
    return `${pagePath}?${new URLSearchParams({ error, ...(to !== undefined && { to }) })}`
  }
}

/**
 * Whether a person opens a page. Browsers say so in Fetch metadata, which scripts cannot set. Without
 * it (old browsers, plain HTTP), `Accept` tells a page from a call of a script or a program.
 */
function isNavigation(arrival: Arrival): boolean {
  return arrival.method === 'GET' && opensPage(arrival)
}

/** Whether a browser opens a page with this request: a link or an address (GET), or a form (POST). */
export function opensPage({ method, upgrade, rawHeaders }: Arrival): boolean {
  if ((method !== 'GET' && method !== 'POST') || upgrade !== undefined) return false
  const mode = headerOf(rawHeaders, 'sec-fetch-mode')
  if (mode !== undefined) {
    return mode === 'navigate' && headerOf(rawHeaders, 'sec-fetch-dest') === 'document'
  }
  if (headerOf(rawHeaders, 'x-requested-with') !== undefined) return false
  return /(?:^|,)\s*text\/html\s*(?:[,;]|$)/i.test(headerOf(rawHeaders, 'accept') ?? '')
}

/** The first value of a header. */
export function headerOf(rawHeaders: readonly string[], name: string): string | undefined {
  const at = rawHeaders.findIndex((each, index) => index % 2 === 0 && each.toLowerCase() === name)
  return at === -1 ? undefined : rawHeaders[at + 1]
}
