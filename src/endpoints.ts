/** The paths that are Postern's own. Routes, policies and upstreams have no say over them. */
export const ownPaths = {
  login: '/api/v1/login',
  captcha: '/api/v1/getCaptcha',
  logout: '/api/v1/logout',
  profile: '/api/v1/user/profile',
} as const

/** Where clients of later versions of the product family look for the captcha. */
export const captchaAlias = '/api/v1/captcha'

/** Removed for good: they must not exist, whatever an upstream offers (specification). */
export const removedPaths: readonly string[] = ['/api/v1/refresh_token']

/** In every case of letters, and with a slash behind it: some servers take both for the same. */
export function isRemoved(path: string): boolean {
  for (const removed of removedPaths) {
    // Asked of every request, and nearly always answered by the length.
    const more = path.length - removed.length
    if (more !== 0 && (more !== 1 || !path.endsWith('/'))) continue
    if (path.toLowerCase().startsWith(removed)) return true
  }
  return false
}

/**
 * What a server could take a canonical path for: as it stands, with encoded slashes decoded,
 * without what follows a semicolon, and both, in either order.
 */
export function readings(path: string): readonly string[] {
  if (!/%2F|;/.test(path)) return [path]
  const decoded = decodeSlashes(path)
  const cut = cutParameters(path)
  return [path, decoded, cut, cutParameters(decoded), decodeSlashes(cut)]
}

/** Whether a server that is sent this path could take it for a login or for a removed endpoint. */
export function readsAsOurs(path: string): boolean {
  return readings(path).some((read) => isRemoved(read) || isOpen(read))
}

function decodeSlashes(path: string): string {
  return path.replaceAll('%2F', '/')
}

function cutParameters(path: string): string {
  return path.replace(/;[^/]*/g, '')
}

/** Answered before anybody is asked who they are, so no policy is asked either. */
export function isOpen(path: string): boolean {
  return path === ownPaths.login || path === ownPaths.captcha
}
