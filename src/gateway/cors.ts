import { Refusal } from '../kernel/errors.ts'
import type { Arrival } from './arrival/arrival.ts'
import type { Reply } from './reply.ts'
import type { Received } from './stages.ts'

interface CorsSettings {
  /** Exact origins, or `*` alone. Empty: CORS is off. */
  readonly origins: readonly string[]
  readonly methods: readonly string[]
  readonly headers: readonly string[]
  readonly exposeHeaders: readonly string[]
  readonly credentials: boolean
  readonly maxAgeSeconds: number
}

/** Which pages a browser lets read our responses. Not an access check: only browsers enforce it. */
export interface Cors {
  readonly isOn: boolean
  /** Adds headers to any response: an allowed page must be able to read a refusal too. */
  readonly mark: (arrival: Arrival, reply: Reply) => void
  /** Whether it is a CORS preflight, which carries no token. */
  readonly isPreflight: (received: Received) => boolean
  /** Throws a Refusal for an origin that is not listed. */
  readonly answerPreflight: (received: Received, reply: Reply) => void
}

const off: Cors = {
  isOn: false,
  mark() {},
  isPreflight: () => false,
  answerPreflight() {},
}

/**
 * Compares complete origins as text: no suffixes, no patterns, and only a configured origin is echoed.
 * `null` never matches, since it is the origin of every sandboxed page.
 */
export function createCors(settings: CorsSettings): Cors {
  if (settings.origins.length === 0) return off
  const { credentials, maxAgeSeconds } = settings
  const listed = new Set(settings.origins)
  const allowsAll = listed.has('*')
  const methods = settings.methods.join(', ')
  const headers = settings.headers.join(', ')
  const exposed = settings.exposeHeaders.join(', ')

  function isAllowed(origin: string | undefined): origin is string {
    if (origin === undefined || origin === 'null') return false
    return allowsAll || listed.has(origin)
  }

  return {
    isOn: true,
    mark({ rawHeaders }, reply) {
      // Also without an Origin: a cache must not give this response to a page that sends one.
      reply.setHeader('Vary', 'Origin')
      const origin = originIn(rawHeaders)
      if (!isAllowed(origin)) return
      reply.setHeader('Access-Control-Allow-Origin', allowsAll ? '*' : origin)
      if (credentials) reply.setHeader('Access-Control-Allow-Credentials', 'true')
      if (exposed !== '') reply.setHeader('Access-Control-Expose-Headers', exposed)
    },
    isPreflight: ({ call, headers: { origin, passable } }) =>
      call.method === 'OPTIONS' && origin !== undefined && asksForMethod(passable),
    answerPreflight({ headers: { origin } }, reply) {
      if (!isAllowed(origin)) throw new Refusal('origin-not-allowed')
      reply.removeHeader('Access-Control-Expose-Headers')
      reply.setHeader('Access-Control-Allow-Methods', methods)
      if (headers !== '') reply.setHeader('Access-Control-Allow-Headers', headers)
      reply.setHeader('Access-Control-Max-Age', String(maxAgeSeconds))
      reply.writeHead(204).end()
    },
  }
}

/** `undefined` if there are two. From the raw headers: a refusal by `receive` is marked too. */
function originIn(rawHeaders: readonly string[]): string | undefined {
  let found: string | undefined
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string
    if (name.length !== 6 || name.toLowerCase() !== 'origin') continue
    if (found !== undefined) return undefined
    found = rawHeaders[at + 1]
  }
  return found
}

function asksForMethod(passable: readonly string[]): boolean {
  return passable.some(
    (name, at) => at % 2 === 0 && name.toLowerCase() === 'access-control-request-method',
  )
}
