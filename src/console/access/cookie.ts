import { consoleCookies } from '../../kernel/console-cookies.ts'

/** Sets, reads and clears the cookie that holds a console session. */
export type SessionCookie = ReturnType<typeof createSessionCookie>

/**
 * Browsers accept a name with `__Host-` only from a secure origin, for this host and every path, so no
 * sibling host can set it. Plain HTTP, on a loopback address, has to do without.
 */
export function createSessionCookie(isSecure: boolean, lifetimeSeconds: number) {
  const name = isSecure ? consoleCookies.secure : consoleCookies.plain
  const attributes = `Path=/; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`
  return {
    issued: (text: string) => `${name}=${text}; Max-Age=${lifetimeSeconds}; ${attributes}`,
    cleared: `${name}=; Max-Age=0; ${attributes}`,
    /** `undefined` unless the browser sent it exactly once: a second one may be of a sibling host. */
    read: (header: string | undefined) => readCookie(header, name),
    /** Whether the header has it, even more than once. */
    isIn: (header: string | undefined) => pairsNamed(header, name).length > 0,
  }
}

/** The value of a cookie that came exactly once. */
export function readCookie(header: string | undefined, name: string): string | undefined {
  const found = pairsNamed(header, name)
  return found.length === 1 ? found[0]?.slice(name.length + 1) : undefined
}

function pairsNamed(header: string | undefined, name: string): readonly string[] {
  return (header ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
}
