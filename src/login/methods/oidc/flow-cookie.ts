import { createHash } from 'node:crypto'
import { ownPaths } from '../../../kernel/endpoints.ts'
import type { OidcSettings } from './settings.ts'

/** Long enough for a password, a second factor and a consent page. */
export const flowSeconds = 600

/** Logins that one browser has in progress, in as many tabs. */
const mostInBrowser = 4

const prefix = 'postern_login_'

/** The name of the cookie of a login: one for each, so that two tabs do not disturb each other. */
export function flowCookie(state: string): string {
  return prefix + createHash('sha256').update(state).digest('base64url').slice(0, 16)
}

/**
 * The surplus of these cookies of a browser, oldest first as browsers send them (RFC 6265 5.4): abandoned
 * logins must not make its requests too large.
 */
export function surplusCookies(names: readonly string[]): readonly string[] {
  const own = names.filter((name) => name.startsWith(prefix) && /^[\w-]{1,64}$/.test(name))
  return own.slice(0, Math.max(0, own.length - (mostInBrowser - 1)))
}

export function keptCookie(settings: Place, name: string, value: string): string {
  return `${name}=${value}; Max-Age=${flowSeconds}; ${attributes(settings)}`
}

/** Browsers delete a cookie only with the path that it was set with. */
export function droppedCookie(settings: Place, name: string): string {
  return `${name}=; Max-Age=0; ${attributes(settings)}`
}

type Place = Pick<OidcSettings, 'redirectUri'>

/**
 * Only login gets the cookie, under the path by which browsers reach it. Lax: the answer of the provider
 * is a navigation from another site.
 */
function attributes({ redirectUri }: Place): string {
  const { pathname, protocol } = new URL(redirectUri)
  const path = pathname.slice(0, pathname.lastIndexOf(ownPaths.login) + ownPaths.login.length)
  return `Path=${path}; HttpOnly; SameSite=Lax${protocol === 'https:' ? '; Secure' : ''}`
}
