import { captchaAlias, ownPaths } from '../endpoints.ts'

/**
 * The endpoints that Postern answers itself. `open` ones come before the identity check; the
 * others walk the whole line first. A path that Postern answers reaches no upstream under another
 * method either, so that no upstream can offer a second login.
 */
export interface OwnEndpoint {
  readonly name: 'login' | 'captcha' | 'logout' | 'profile' | 'server' | 'wrong-method'
  readonly open: boolean
  /** Methods that the path does answer. */
  readonly allow: string
  /** Name of the upstream that answers instead of us, after both checks. */
  readonly upstream?: string
}

export interface OwnEndpointOptions {
  readonly captchaAlias: boolean
  /** `gateway`, or the name of the upstream that answers. */
  readonly logout: string
  readonly profile: string
}

export type FindOwnEndpoint = (method: string, path: string) => OwnEndpoint | undefined

/** The target of a call about the server. */
export const serverWide = '*'

/** `OPTIONS *` asks about the server, not about a path (RFC 9110 9.3.7): it is ours to answer. */
export function isServerWide(method: string, target: string): boolean {
  return target === serverWide && method === 'OPTIONS'
}

/** Look-up on the canonical path, by equality: `/api/v1/login/` and `/api/v1/Login` are not login. */
export function createOwnEndpoints(options: OwnEndpointOptions): FindOwnEndpoint {
  const login = endpoint('login', 'POST', true)
  const captcha = endpoint('captcha', 'GET', true)
  const byPath = new Map<string, OwnEndpoint>([
    [serverWide, endpoint('server', 'OPTIONS', true)],
    [ownPaths.login, login],
    [ownPaths.captcha, captcha],
    [ownPaths.logout, handedTo(options.logout, endpoint('logout', 'POST', false))],
    [ownPaths.profile, handedTo(options.profile, endpoint('profile', 'GET', false))],
  ])
  if (options.captchaAlias) byPath.set(captchaAlias, captcha)

  return (method, path) => {
    const found = byPath.get(path)
    if (found === undefined || found.allow === method) return found
    // Other methods on a path that an upstream answers are that upstream's business.
    if (found.upstream !== undefined) return undefined
    return { ...found, name: 'wrong-method' }
  }
}

function endpoint(name: OwnEndpoint['name'], allow: string, open: boolean): OwnEndpoint {
  return { name, allow, open }
}

function handedTo(target: string, own: OwnEndpoint): OwnEndpoint {
  return target === 'gateway' ? own : { ...own, upstream: target }
}
