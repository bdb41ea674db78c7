import { consoleCookies } from '../../kernel/console-cookies.ts'

/** Sets, reads and clears the cookie that holds a console session. */
export interface SessionCookie {
  issued(text: string): string
  readonly cleared: string
  /** `undefined` unless the browser sent it exactly once: a second one may be of a sibling host. */
  read(header: string | undefined): string | undefined
  /** Whether the header has it, even more than once. */
  isIn(header: string | undefined): boolean
}

/**
 * Browsers accept a name with `__Host-` only from a secure origin, for this host and every path, so no
 * sibling host can set it. Plain HTTP, on a loopback address, has to do without.
 */
export function createSessionCookie(isSecure: boolean, lifetimeSeconds: number): SessionCookie {
  const name = isSecure ? consoleCookies.secure : consoleCookies.plain
  const attributes = `Path=/; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`
  return {
    issued: (text) => `${name}=${text}; Max-Age=${lifetimeSeconds}; ${attributes}`,
    cleared: `${name}=; Max-Age=0; ${attributes}`,
    read: (header) => readCookie(header, name),
    isIn: (header) => pairsNamed(header, name).length > 0,
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
