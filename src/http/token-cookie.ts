interface TokenCookieOptions {
  /** Whether there is such a cookie at all. */
  readonly set: boolean
  readonly sameSite: 'strict' | 'lax' | 'none'
  /** For encrypted connections only. */
  readonly secure: boolean
  readonly lifetimeSeconds: number
}

/** The headers that set and clear the cookie `jwt`; none where Postern does not set it. */
export interface TokenCookie {
  issued(token: string): readonly string[]
  readonly cleared: readonly string[]
}

const sameSiteNames = { strict: 'Strict', lax: 'Lax', none: 'None' } as const

/**
 * The cookie lives as long as its token, on every path of this host only, and no script can read
 * it. Cleared with the attributes it was set with: browsers ignore anything else.
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
