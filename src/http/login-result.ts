import type { Reply } from '../gateway/reply.ts'

interface Issued {
  readonly token: string
  readonly expiresAt: Date
}

/** The body of a successful login, as existing clients read it. */
export function loginResult({ token, expiresAt }: Issued) {
  const expire = toSeconds(expiresAt)
  return { code: 200, currentAuthority: token, expire, success: true, token }
}

/** RFC 3339 with second precision, as existing clients parse it. */
function toSeconds(date: Date): string {
  return date.toISOString().replace(/\.\d+Z$/, 'Z')
}

/** Collects what an attempt sets, for the headers of a success; a refusal carries it by itself. */
export function attemptCookies(reply: Reply) {
  const cookies: string[] = []
  return {
    cookies,
    setCookie(cookie: string): void {
      cookies.push('Set-Cookie', cookie)
      reply.setHeader('Set-Cookie', cookie)
    },
  } as const
}
