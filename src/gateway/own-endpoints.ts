/**
 * The endpoints that Postern answers itself. `open` ones come before the identity check; the
 * others walk the whole line first. A path on this list never reaches an upstream under another
 * method, so that no upstream can offer a second login.
 */
export interface OwnEndpoint {
  readonly name: 'login' | 'captcha' | 'logout' | 'profile' | 'wrong-method'
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

/** Look-up on the canonical path, by equality: `/api/v1/login/` and `/api/v1/Login` are not login. */
export function createOwnEndpoints(options: OwnEndpointOptions): FindOwnEndpoint {
  const login = endpoint('login', 'POST', true)
  const captcha = endpoint('captcha', 'GET', true)
  const byPath = new Map<string, OwnEndpoint>([
    ['/api/v1/login', login],
    ['/api/v1/getCaptcha', captcha],
    ['/api/v1/logout', handedTo(options.logout, endpoint('logout', 'POST', false))],
    ['/api/v1/user/profile', handedTo(options.profile, endpoint('profile', 'GET', false))],
  ])
  if (options.captchaAlias) byPath.set('/api/v1/captcha', captcha)

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
