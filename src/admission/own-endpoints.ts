import { captchaAlias, oidcPaths, ownPaths } from '../kernel/endpoints.ts'

/**
 * An endpoint that Postern serves itself. `open` ones need no token; the others pass both checks first.
 * No method of such a path is forwarded, so that no upstream can offer a second login.
 */
export interface OwnEndpoint {
  readonly name:
    | 'login'
    | 'captcha'
    | 'logout'
    | 'profile'
    | 'password'
    | 'server'
    | 'oidc-begin'
    | 'oidc-callback'
    | 'oidc-logout'
    | 'page'
    | 'page-login'
    | 'page-file'
    | 'page-captcha'
    | 'page-password-form'
    | 'page-password'
    | 'page-logout-form'
    | 'page-logout'
    | 'wrong-method'
  readonly open: boolean
  /** The methods that the path supports. */
  readonly allow: string
  /** Needs a valid token and no permission: what callers do with their own login. */
  readonly identityOnly?: true
  /** Name of the upstream that serves it instead, after both checks. */
  readonly upstream?: string
  /** The OpenID Connect provider that it belongs to. */
  readonly provider?: string
}

export interface OwnEndpointOptions {
  readonly captchaAlias: boolean
  /** `gateway`, or the name of the upstream that serves it. */
  readonly logout: string
  readonly profile: string
  readonly password: string
  /** Unset: no provider. */
  readonly oidc?: readonly OidcEndpoints[] | undefined
  /** Unset: no login page. */
  readonly page?: PagePaths
}

interface OidcEndpoints {
  readonly name: string
  readonly logout: { readonly backChannel: boolean }
  /** The file of its picture on the login page. */
  readonly icon?: string | undefined
}

/** An own endpoint and its path, which is exact. `allow` is one method. */
export interface PlacedEndpoint extends OwnEndpoint {
  readonly path: string
}

export type FindOwnEndpoint = (method: string, path: string) => OwnEndpoint | undefined

/** The request target in asterisk form (RFC 9112 3.2.4). */
export const serverWide = '*'

/** `OPTIONS *` is about the server, not about a path (RFC 9110 9.3.7), so Postern answers it. */
export function isServerWide(method: string, target: string): boolean {
  return target === serverWide && method === 'OPTIONS'
}

/** Every own endpoint of a configuration. */
export function listOwnEndpoints(options: OwnEndpointOptions): readonly PlacedEndpoint[] {
  const { logout, profile, password, oidc = [] } = options
  return [
    open('server', 'OPTIONS', serverWide),
    open('login', 'POST', ownPaths.login),
    open('captcha', 'GET', ownPaths.captcha),
    ...(options.captchaAlias ? [open('captcha', 'GET', captchaAlias)] : []),
    delegated('logout', 'POST', logout),
    delegated('profile', 'GET', profile),
    delegated('password', 'POST', password),
    ...oidc.flatMap(oidcEndpoints),
    ...pageEndpoints(options),
  ]
}

/** Compares canonical paths exactly: `/api/v1/login/` and `/api/v1/Login` are not login. */
export function createOwnEndpoints(options: OwnEndpointOptions): FindOwnEndpoint {
  const byPath = new Map<string, OwnEndpoint[]>()
  for (const { path, ...own } of listOwnEndpoints(options)) {
    byPath.set(path, [...(byPath.get(path) ?? []), own])
  }

  return (method, path) => {
    const there = byPath.get(path)
    if (there === undefined) return undefined
    const found = there.find(({ allow }) => allow === method)
    if (found !== undefined) return found
    const [first] = there
    // An upstream that serves the path decides about its other methods.
    if (first === undefined || first.upstream !== undefined) return undefined
    const allow = there.map((each) => each.allow).join(', ')
    return { ...first, name: 'wrong-method', allow }
  }
}

/** Where logins with a provider begin and end, and where its logouts arrive. */
function oidcEndpoints({ name: provider, logout }: OidcEndpoints): readonly PlacedEndpoint[] {
  const paths = oidcPaths(provider)
  const own = [
    open('oidc-begin', 'GET', paths.begin),
    open('oidc-callback', 'GET', paths.callback),
    ...(logout.backChannel ? [open('oidc-logout', 'POST', paths.backChannel)] : []),
  ]
  return own.map((each) => ({ ...each, provider }))
}

/**
 * The endpoints of the login page. Password and logout are left out where an upstream serves them: the
 * page would do only half of what the application expects.
 */
function pageEndpoints({ page, oidc = [], logout, password }: OwnEndpointOptions) {
  if (!page?.enabled) return []
  const { path, logo } = page
  const file = (name: string) => open('page-file', 'GET', `${path}/${name}`)
  const personal = (name: OwnEndpoint['name'], allow: string, below: string) => {
    return { name, allow, open: false, identityOnly: true as const, path: `${path}/${below}` }
  }
  return [
    open('page', 'GET', path),
    open('page-login', 'POST', path),
    ...['style.css', 'script.js', 'icon.svg'].map(file),
    ...(logo === undefined ? [] : [file('logo')]),
    ...oidc.flatMap(({ name, icon }) => (icon === undefined ? [] : [file(`icon-${name}`)])),
    open('page-captcha', 'GET', `${path}/captcha.png`),
    open('page-captcha', 'GET', `${path}/captcha.wav`),
    ...(password === 'gateway'
      ? [
          personal('page-password-form', 'GET', 'password'),
          personal('page-password', 'POST', 'password'),
        ]
      : []),
    ...(logout === 'gateway'
      ? [personal('page-logout-form', 'GET', 'logout'), personal('page-logout', 'POST', 'logout')]
      : []),
  ]
}

function open(name: OwnEndpoint['name'], allow: string, path: string): PlacedEndpoint {
  return { name, allow, open: true, path }
}

function delegated(
  name: 'logout' | 'profile' | 'password',
  allow: string,
  target: string,
): PlacedEndpoint {
  const own = { name, allow, open: false, path: ownPaths[name] }
  return target === 'gateway' ? own : { ...own, upstream: target }
}

/** The settings of the login page that decide which paths exist. */
interface PagePaths {
  readonly enabled: boolean
  readonly path: string
  /** The file of the logo. */
  readonly logo?: string | undefined
}
