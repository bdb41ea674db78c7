import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { FindCrossSite } from '../../gateway/cross-site.ts'
import { Refusal } from '../../kernel/errors.ts'
import { Problem } from '../problem.ts'
import type { SessionCookie } from './cookie.ts'
import { type ConsoleRole, isAtLeast } from './roles.ts'
import type { ConsoleSession, ConsoleSessions } from './session.ts'

/** What a route of the management API asks of its callers. */
type RouteAccess =
  | 'anyone'
  /** Also when a page of another site leads there: the answer of an identity provider. */
  | 'anyone-from-anywhere'
  | {
      readonly role: ConsoleRole
      /** A password or code entered within five minutes. */
      readonly confirmed?: true
    }

declare module 'fastify' {
  interface FastifyContextConfig {
    readonly access?: RouteAccess
  }
}

interface GuardParts {
  readonly sessions: Pick<ConsoleSessions, 'open' | 'isConfirmed'>
  readonly cookie: SessionCookie
  readonly crossSite: FindCrossSite
  /** Whether browsers reach the console by https. */
  readonly isSecure: boolean
}

/** What handlers ask of the guard. */
export interface ConsoleGuard {
  /** Makes the guard check every route of this scope. A route without `config.access` does not start. */
  protect(scope: FastifyInstance): void
  /** The session of a request whose route asks for a role. */
  sessionOf(request: FastifyRequest): ConsoleSession
}

const safeMethods: ReadonlySet<string> = new Set(['GET', 'HEAD'])

/** Who may call what. Before a handler runs: other sites, forms, sessions, roles, confirmations. */
export function createGuard({ sessions, cookie, crossSite, isSecure }: GuardParts): ConsoleGuard {
  const found = new WeakMap<FastifyRequest, ConsoleSession>()

  function refuseOtherSites({ headers }: FastifyRequest): void {
    const fetchSite = headers['sec-fetch-site']
    const reason = crossSite({
      headers: {
        origin: headers.origin,
        fetchSite: typeof fetchSite === 'string' ? fetchSite : undefined,
      },
      origin: { scheme: isSecure ? 'https' : 'http', host: headers.host },
    })
    if (reason !== undefined)
      throw new Problem(403, `not from another site: ${reason}`, 'another-site')
  }

  /** Forms of other sites cannot send JSON, and scripts need our permission to. */
  function refuseForms({ method, headers }: FastifyRequest): void {
    if (safeMethods.has(method)) return
    if (/^application\/json(?:; ?charset=utf-8)?$/i.test(headers['content-type'] ?? '')) return
    throw new Problem(415, 'Content-Type must be application/json')
  }

  async function check(request: FastifyRequest, _: FastifyReply): Promise<void> {
    const { access } = request.routeOptions.config
    if (access === 'anyone-from-anywhere') return
    refuseOtherSites(request)
    refuseForms(request)
    if (access === 'anyone') return
    if (access === undefined) throw new Refusal('not-permitted')
    const text = cookie.read(request.headers.cookie)
    if (text === undefined) throw new Refusal('token-missing')
    const session = await sessions.open(text)
    if (!isAtLeast(session.role, access.role)) throw new Refusal('not-permitted')
    if (access.confirmed && !sessions.isConfirmed(session)) {
      throw new Refusal('confirmation-needed')
    }
    found.set(request, session)
  }

  return {
    protect(scope) {
      scope.addHook('onRoute', ({ url, config }) => {
        if (config?.access === undefined) throw new Error(`${url} does not say who may call it`)
      })
      scope.addHook('onRequest', check)
    },
    sessionOf(request) {
      const session = found.get(request)
      if (session === undefined) throw new Error('the route asks for no role')
      return session
    },
  }
}
