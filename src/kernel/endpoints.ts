/** The paths that Postern serves itself. No route can cover them. */
export const ownPaths = {
  login: '/api/v1/login',
  captcha: '/api/v1/getCaptcha',
  logout: '/api/v1/logout',
  profile: '/api/v1/user/profile',
  password: '/api/v1/user/password',
} as const

/** Where later versions of the client request the captcha. */
export const captchaAlias = '/api/v1/captcha'

const oidcPrefix = `${ownPaths.login}/oidc/`

/** The paths of an OpenID Connect provider: where logins begin and end, and where its logouts arrive. */
export function oidcPaths(provider: string) {
  const begin = `${oidcPrefix}${provider}`
  return {
    begin,
    callback: `${begin}/callback`,
    backChannel: `${begin}/backchannel-logout`,
  } as const
}

/** Endpoints that must not exist, even if an upstream has them (specification, Removed endpoint). */
export const removedPaths: readonly string[] = ['/api/v1/refresh_token']

/** Ignores case and a trailing slash, because some servers do. */
export function isRemoved(path: string): boolean {
  for (const removed of removedPaths) {
    // Runs on every request: the length decides nearly all of them.
    const more = path.length - removed.length
    if (more !== 0 && (more !== 1 || !path.endsWith('/'))) continue
    if (path.toLowerCase().startsWith(removed)) return true
  }
  return false
}

/** Endpoints that callers without a token use, so that the policy does not apply to them. */
export function needsNoLogin(path: string): boolean {
  return path === ownPaths.login || path === ownPaths.captcha || path.startsWith(oidcPrefix)
}
