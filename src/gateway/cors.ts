import { Refusal } from '../errors.ts'
import type { Arrival } from './arrival/arrival.ts'
import type { Reply } from './reply.ts'
import type { Received } from './stages.ts'

interface CorsSettings {
  /** Exact origins, or `*` alone; none: nothing here happens. */
  readonly origins: readonly string[]
  readonly methods: readonly string[]
  readonly headers: readonly string[]
  readonly exposeHeaders: readonly string[]
  readonly credentials: boolean
  readonly maxAgeSeconds: number
}

/** Which pages a browser lets read our answers. It is no check: who does not ask a browser can. */
export interface Cors {
  readonly isOn: boolean
  /** Marks the answer, whatever it will be: a page that may read must be able to read a refusal. */
  readonly mark: (arrival: Arrival, reply: Reply) => void
  /** Whether a browser asks what it may ask. It sends no token with that. */
  readonly isPreflight: (received: Received) => boolean
  /** Answers that question, or refuses an origin that is not listed. */
  readonly answerPreflight: (received: Received, reply: Reply) => void
}

const off: Cors = {
  isOn: false,
  mark() {},
  isPreflight: () => false,
  answerPreflight() {},
}

/**
 * Origins are compared whole, as text: no suffix, no pattern, nothing said back that is not
 * configured. `null` is every sandboxed page there is, and is never listed.
 */
export function createCors(settings: CorsSettings): Cors {
  if (settings.origins.length === 0) return off
  const { credentials, maxAgeSeconds } = settings
  const listed = new Set(settings.origins)
  const everybody = listed.has('*')
  const methods = settings.methods.join(', ')
  const headers = settings.headers.join(', ')
  const exposed = settings.exposeHeaders.join(', ')

  function isAllowed(origin: string | undefined): origin is string {
    if (origin === undefined || origin === 'null') return false
    return everybody || listed.has(origin)
  }

  return {
    isOn: true,
    mark({ rawHeaders }, reply) {
      // Also without an Origin: a cache must not hand this answer to a page that has one.
      reply.setHeader('Vary', 'Origin')
      const origin = originIn(rawHeaders)
      if (!isAllowed(origin)) return
      reply.setHeader('Access-Control-Allow-Origin', everybody ? '*' : origin)
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

/** The one Origin; two of them are none. Read before anything is refused, hence from the raw text. */
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
