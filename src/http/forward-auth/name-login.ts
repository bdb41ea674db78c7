import { canonicalHost } from '../../admission/canonical-host.ts'
import type { Arrival } from '../../gateway/arrival/arrival.ts'
import type { ReadHeaders } from '../../gateway/arrival/arriving-headers.ts'
import type { FindOrigin } from '../../gateway/arrival/client-origin.ts'
import type { ReadOriginal } from '../../gateway/original-request.ts'
import { Refusal } from '../../kernel/errors.ts'
import type { RedirectOf } from '../redirect-reply.ts'

interface LoginParts {
  readonly readOriginal: ReadOriginal
  readonly readHeaders: ReadHeaders
  readonly findOrigin: FindOrigin
  /** The path of the login page, for a browser that opens a page without a login. */
  readonly loginOf: RedirectOf | undefined
}

/** Returns the error, with the address of the login page if the client is a browser that needs it. */
export type NameLogin = (error: unknown, forwardAuth: Arrival) => unknown

export function createNameLogin(parts: LoginParts): NameLogin {
  const { readOriginal, readHeaders, findOrigin, loginOf } = parts

  return (error, forwardAuth) => {
    // Without a path, the request was refused before anyone looked for a token.
    if (!(error instanceof Refusal) || forwardAuth.notes.path === undefined) return error
    const { contract, arrival } = readOriginal(forwardAuth)
    const path = loginOf?.(error, arrival)
    if (path === undefined) return error
    const origin = contract === 'traefik' && path.startsWith('/') ? seenOrigin(arrival) : ''
    if (origin === undefined) return error
    return new Refusal(error.kind, { ...error.detail, location: `${origin}${path}` })
  }

  /**
   * Traefik resolves a path against the address where it asks, so it gets the one that the client sees.
   * Other proxies pass a path on, which leads to no other host.
   */
  function seenOrigin(arrival: Arrival): string | undefined {
    const headers = readHeaders(arrival.rawHeaders, arrival.httpVersion)
    const { scheme, host } = findOrigin(arrival, headers)
    // Without a good X-Forwarded-Host, the host is the one where Traefik asks.
    if (host === undefined || headers.forwardedHost?.split(',').at(-1)?.trim() !== host) {
      return undefined
    }
    const name = canonicalHost(host)
    const [port = ''] = /:\d+$/.exec(host) ?? []
    return name === undefined ? undefined : `${scheme}://${name}${port}`
  }
}

/** Where a browser goes that was refused because it needs a login. */
export function loginLocation(error: unknown): string | undefined {
  return error instanceof Refusal ? error.detail.location : undefined
}
