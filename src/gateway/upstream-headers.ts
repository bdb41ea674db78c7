import type { VerifiedToken } from '../token/tokens.ts'
import { cookieWithoutToken } from './carriers.ts'
import type { Authorized, Received } from './stages.ts'

/** The names under which an upstream learns who calls. Each can be configured. */
export interface InjectedNames {
  readonly userId: string
  readonly roleKey: string
  readonly dataScope: string
  readonly userName: string
  readonly roleId: string
  readonly requestId: string
}

/** `host`: a name for the Host header, or the word `target` or `client`. */
export type UpstreamHeaders = (authorized: Authorized, host: string) => string[]

/**
 * The headers of the request that goes out: what the client may say, and after it what only
 * Postern says. Injection comes last and every injected name was taken off before, so each stands
 * there once, with the token's value.
 */
export function createUpstreamHeaders(names: InjectedNames): UpstreamHeaders {
  const identityOf = new WeakMap<VerifiedToken, readonly string[]>()

  function identity(token: VerifiedToken): readonly string[] {
    const known = identityOf.get(token)
    if (known !== undefined) return known
    const { caller } = token
    const written = [
      [names.userId, caller.userId],
      [names.roleKey, caller.roleKey],
      [names.dataScope, caller.dataScope],
      [names.userName, caller.username],
      [names.roleId, caller.roleId],
    ].flatMap(([name = '', value = '']) => [name, headerValue(value)])
    identityOf.set(token, written)
    return written
  }

  return ({ received, token }, host) => {
    const { headers, origin, requestId, route, call, sentPath } = received
    const out = [...headers.passable]
    // Without one, undici writes the target's own.
    const name = host === 'client' ? origin.host : host
    if (host !== 'target' && name !== undefined) out.push('Host', name)
    pushCredentials(out, received, passesCredentials(received))
    if (headers.contentLength !== undefined) out.push('Content-Length', headers.contentLength)

    if (token !== undefined) out.push(...identity(token))
    out.push(names.requestId, requestId, 'X-Forwarded-For', origin.chain)
    out.push('X-Forwarded-Proto', origin.scheme)
    if (origin.host !== undefined) out.push('X-Forwarded-Host', origin.host)
    // With it, a service can write links that lead back here.
    if (route?.replacePrefix === '/' && sentPath !== call.path) {
      out.push('X-Forwarded-Prefix', route.path)
    }
    return out
  }
}

/**
 * A value that no header parser reads as more than one value. Plain ASCII stays as it is; with
 * anything else in it, or a `%`, the whole value is percent-encoded, so that decoding once always
 * gives back the original.
 */
export function headerValue(value: string): string {
  if (/^(?:[\x21-\x24\x26-\x7e](?:[\x20-\x24\x26-\x7e]*[\x21-\x24\x26-\x7e])?)?$/.test(value)) {
    return value
  }
  return encodeURIComponent(value.toWellFormed())
}

/** A route speaks for its own upstream only, not for one that an endpoint is handed to. */
export function passesCredentials({ route, endpoint }: Received): boolean {
  if (route?.forwardCredentials !== true) return false
  return endpoint?.upstream === undefined || endpoint.upstream === route.upstream
}

function pushCredentials(out: string[], { headers }: Received, forwardCredentials: boolean): void {
  if (forwardCredentials && headers.authorization !== undefined) {
    out.push('Authorization', headers.authorization)
  }
  for (const cookie of headers.cookies) {
    const kept = forwardCredentials ? cookie : cookieWithoutToken(cookie)
    if (kept !== undefined) out.push('Cookie', kept)
  }
}
