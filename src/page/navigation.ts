import { Refusal, type RefusalKind } from '../errors.ts'
import type { Arrival } from '../gateway/arrival/arrival.ts'
import { ownTarget } from './address.ts'

/** Refusals that a login cures. */
const curable: ReadonlySet<RefusalKind> = new Set<RefusalKind>([
  'token-missing',
  'token-invalid',
  'token-expired',
  'token-too-long-lived',
  'token-revoked',
])

/**
 * Sends a browser that opens a protected page without a login to the login page, and back from there.
 * Every other client gets the refusal, which it can read. A form of the page itself whose login has
 * ended goes there too.
 */
export function createLoginRedirect(pagePath: string) {
  return (error: unknown, arrival: Arrival): string | undefined => {
    if (!(error instanceof Refusal) || !curable.has(error.kind)) return undefined
    const isOwnForm = arrival.notes.path?.startsWith(`${pagePath}/`) && arrival.method === 'POST'
    if (!isOwnForm && !isNavigation(arrival)) return undefined
    const to = ownTarget(arrival.target)
    return to === undefined ? pagePath : `${pagePath}?${new URLSearchParams({ to })}`
  }
}

/**
 * Whether a person opens a page. Browsers say so in Fetch metadata, which scripts cannot set. Without
 * it (old browsers, plain HTTP), `Accept` tells a page from a call of a script or a program.
 */
function isNavigation({ method, upgrade, rawHeaders }: Arrival): boolean {
  if (method !== 'GET' || upgrade !== undefined) return false
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
