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
    | PageEndpointName
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
  const captcha = endpoint('captcha', 'GET', true)
  const placed: readonly (readonly [string, OwnEndpoint])[] = [
    [serverWide, endpoint('server', 'OPTIONS', true)],
    [ownPaths.login, endpoint('login', 'POST', true)],
    [ownPaths.captcha, captcha],
    ...(options.captchaAlias ? [[captchaAlias, captcha] as const] : []),
    [ownPaths.logout, delegated(options.logout, endpoint('logout', 'POST', false))],
    [ownPaths.profile, delegated(options.profile, endpoint('profile', 'GET', false))],
    [ownPaths.password, delegated(options.password, endpoint('password', 'POST', false))],
    ...(options.oidc ?? []).flatMap(oidcEndpoints),
    ...pageEndpoints(options),
  ]
  return placed.map(([path, own]) => ({ ...own, path }))
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
function oidcEndpoints({ name: provider, logout }: OidcEndpoints) {
  const paths = oidcPaths(provider)
  const own: readonly (readonly [string, OwnEndpoint])[] = [
    [paths.begin, { ...endpoint('oidc-begin', 'GET', true), provider }],
    [paths.callback, { ...endpoint('oidc-callback', 'GET', true), provider }],
    [paths.backChannel, { ...endpoint('oidc-logout', 'POST', true), provider }],
  ]
  return logout.backChannel ? own : own.slice(0, 2)
}

function pageEndpoints({ page, oidc = [], logout, password }: OwnEndpointOptions) {
  if (page === undefined) return []
  const own = { logout: logout === 'gateway', password: password === 'gateway' }
  return listPageEndpoints(page, own, oidc).map(({ name, method, path, open }) => {
    const placed = endpoint(name, method, open)
    return [path, open ? placed : { ...placed, identityOnly: true as const }] as const
  })
}

function endpoint(name: OwnEndpoint['name'], allow: string, open: boolean): OwnEndpoint {
  return { name, allow, open }
}

function delegated(target: string, own: OwnEndpoint): OwnEndpoint {
  return target === 'gateway' ? own : { ...own, upstream: target }
}

/** The settings of the login page that decide which paths exist. */
interface PagePaths {
  readonly enabled: boolean
  readonly path: string
  /** The file of the logo. */
  readonly logo?: string | undefined
}

/** What the login page does on one of its paths. */
type PageEndpointName =
  | 'page'
  | 'page-login'
  | 'page-file'
  | 'page-captcha'
  | 'page-password-form'
  | 'page-password'
  | 'page-logout-form'
  | 'page-logout'

interface PageEndpoint {
  readonly name: PageEndpointName
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly open: boolean
}

/**
 * The endpoints of the login page. Password and logout are left out where an upstream serves them: the
 * page would do only half of what the application expects.
 */
function listPageEndpoints(
  { enabled, path, logo }: PagePaths,
  own: { readonly logout: boolean; readonly password: boolean },
  providers: readonly OidcEndpoints[],
): readonly PageEndpoint[] {
  if (!enabled) return []
  const file = (name: string) => get('page-file', `${path}/${name}`, true)
  return [
    get('page', path, true),
    post('page-login', path, true),
    file('style.css'),
    file('script.js'),
    file('icon.svg'),
    ...(logo === undefined ? [] : [file('logo')]),
    ...providers.flatMap(({ name, icon }) => (icon === undefined ? [] : [file(`icon-${name}`)])),
    get('page-captcha', `${path}/captcha.png`, true),
    get('page-captcha', `${path}/captcha.wav`, true),
    ...(own.password
      ? [
          get('page-password-form', `${path}/password`, false),
          post('page-password', `${path}/password`, false),
        ]
      : []),
    ...(own.logout
      ? [
          get('page-logout-form', `${path}/logout`, false),
          post('page-logout', `${path}/logout`, false),
        ]
      : []),
  ]
}

function get(name: PageEndpointName, path: string, open: boolean): PageEndpoint {
  return { name, method: 'GET', path, open }
}

function post(name: PageEndpointName, path: string, open: boolean): PageEndpoint {
  return { name, method: 'POST', path, open }
}
