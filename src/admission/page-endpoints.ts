/** The settings of the login page that decide which paths exist. */
export interface PagePaths {
  readonly enabled: boolean
  readonly path: string
  /** The file of the logo. */
  readonly logo?: string | undefined
}

/** What the login page does on one of its paths. */
export type PageEndpointName =
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
export function listPageEndpoints(
  { enabled, path, logo }: PagePaths,
  own: { readonly logout: boolean; readonly password: boolean },
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
