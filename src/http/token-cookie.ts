interface TokenCookieOptions {
  /** Whether Postern sets the cookie. */
  readonly set: boolean
  readonly sameSite: 'strict' | 'lax' | 'none'
  /** Only over TLS. */
  readonly secure: boolean
  /** Every host below it gets the cookie. Absent: only the host that sets it. */
  readonly domain?: string | undefined
  /** Whether its name has the prefix by which browsers protect it. Absent: with a domain. */
  readonly prefix?: boolean | undefined
  readonly lifetimeSeconds: number
}

/** The headers that set and clear the cookie of the token; empty if Postern does not set it. */
export interface TokenCookie {
  readonly name: string
  issued(token: string): readonly string[]
  readonly cleared: readonly string[]
}

const sameSiteNames = { strict: 'Strict', lax: 'Lax', none: 'None' } as const

/**
 * The cookie lasts as long as its token, is valid on every path, and is hidden from scripts. Browsers
 * clear a cookie only with the attributes it was set with.
 */
export function createTokenCookie(options: TokenCookieOptions): TokenCookie {
  const { set, sameSite, secure, domain, prefix = domain !== undefined, lifetimeSeconds } = options
  // RFC 6265bis 4.1.3. Without Secure, browsers would reject the name.
  const protection = domain === undefined ? '__Host-' : '__Secure-'
  const name = prefix && secure ? `${protection}jwt` : 'jwt'
  if (!set) return { name, issued: () => [], cleared: [] }

  const place = domain === undefined ? 'Path=/' : `Domain=${domain}; Path=/`
  const attributes = `${place}; HttpOnly; SameSite=${sameSiteNames[sameSite]}${secure ? '; Secure' : ''}`
  return {
    name,
    issued: (token) => [
      'Set-Cookie',
      `${name}=${token}; Max-Age=${lifetimeSeconds}; ${attributes}`,
    ],
    cleared: ['Set-Cookie', `${name}=; Max-Age=0; ${attributes}`],
  }
}
