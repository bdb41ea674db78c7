interface TokenCookieOptions {
  /** Whether Postern sets the cookie. */
  readonly set: boolean
  readonly sameSite: 'strict' | 'lax' | 'none'
  /** Only over TLS. */
  readonly secure: boolean
  readonly lifetimeSeconds: number
}

/** The headers that set and clear the cookie `jwt`; empty if Postern does not set it. */
export interface TokenCookie {
  issued(token: string): readonly string[]
  readonly cleared: readonly string[]
}

const sameSiteNames = { strict: 'Strict', lax: 'Lax', none: 'None' } as const

/**
 * The cookie lasts as long as its token, is valid on every path of this host only, and is hidden from
 * scripts. Browsers clear a cookie only with the attributes it was set with.
 */
export function createTokenCookie(options: TokenCookieOptions): TokenCookie {
  const { set, sameSite, secure, lifetimeSeconds } = options
  if (!set) return { issued: () => [], cleared: [] }

  const attributes = `Path=/; HttpOnly; SameSite=${sameSiteNames[sameSite]}${secure ? '; Secure' : ''}`
  return {
    issued: (token) => ['Set-Cookie', `jwt=${token}; Max-Age=${lifetimeSeconds}; ${attributes}`],
    cleared: ['Set-Cookie', `jwt=; Max-Age=0; ${attributes}`],
  }
}
