import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { bearerToken } from '../../gateway/carriers.ts'
import type { FindCrossSite } from '../../gateway/cross-site.ts'
import { Refusal } from '../../kernel/errors.ts'
import { Problem } from '../problem.ts'
import type { SessionCookie } from './cookie.ts'
import { type ConsoleRole, isAtLeast } from './roles.ts'
import type { ServiceSession, ServiceSessions } from './service-sessions.ts'
import type { ConsoleSession, ConsoleSessions } from './session.ts'

/** What a route asks of callers that it must know. */
interface RoleAccess {
  readonly role: ConsoleRole
  /** A password or code entered within five minutes, by people. */
  readonly confirmed?: true
  /** Not for programs. */
  readonly person?: true
}

/** What a route of the management API asks of its callers. */
type RouteAccess =
  | 'anyone'
  /** Also when a page of another site leads there: the answer of an identity provider. */
  | 'anyone-from-anywhere'
  | RoleAccess

declare module 'fastify' {
  interface FastifyContextConfig {
    readonly access?: RouteAccess
  }
}

interface GuardParts {
  readonly sessions: Pick<ConsoleSessions, 'open' | 'isConfirmed' | 'problemOf'>
  /** Unset: programs may not call, and their tokens are not read. */
  readonly services: ServiceSessions | undefined
  readonly cookie: SessionCookie
  readonly crossSite: FindCrossSite
  /** Whether browsers reach the console by https. */
  readonly isSecure: boolean
}

/** Who calls: a person with a session of the console, or a program with its token. */
export type CallerSession = ConsoleSession | ServiceSession

/** What handlers ask of the guard. */
export type ConsoleGuard = ReturnType<typeof createGuard>

const safeMethods: ReadonlySet<string> = new Set(['GET', 'HEAD'])

/** Who may call what. Before a handler runs: other sites, forms, sessions, roles, confirmations. */
export function createGuard(parts: GuardParts) {
  const { sessions, services, cookie, crossSite, isSecure } = parts
  const found = new WeakMap<FastifyRequest, CallerSession>()

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
    const program = await programOf(request)
    if (program !== undefined) refuseProgram(program, access)
    found.set(request, program ?? (await openPerson(request, access)))
  }

  /** The program that calls. Browsers send no token by themselves, so no other site can use one. */
  async function programOf({ headers, raw }: FastifyRequest): Promise<ServiceSession | undefined> {
    if (services === undefined) return undefined
    // Node keeps the first, and a proxy in front may have read the other.
    const { authorization: given = [] } = raw.headersDistinct
    if (given.length > 1) throw new Problem(400, 'malformed request')
    const token = bearerToken(given[0])
    if (token === undefined) return undefined
    if (cookie.isIn(headers.cookie)) {
      throw new Problem(400, 'send a session or a token, not both', 'two-credentials')
    }
    return services.open(token)
  }

  function refuseProgram({ username, role }: ServiceSession, access: RoleAccess): void {
    const about = `service account ${username}`
    if (access.person) {
      throw new Problem(403, `${about} is a program: only people may do this`, 'person-required')
    }
    if (isAtLeast(role, access.role)) return
    const problem = `${about} is in console.services.${role}, and this needs ${access.role}`
    throw new Problem(403, problem, 'not-permitted')
  }

  async function openPerson(request: FastifyRequest, access: RoleAccess): Promise<ConsoleSession> {
    const text = cookie.read(request.headers.cookie)
    if (text === undefined) throw new Refusal('token-missing')
    const session = await sessions.open(text)
    if (!isAtLeast(session.role, access.role)) throw new Refusal('not-permitted')
    if (access.confirmed && !sessions.isConfirmed(session)) {
      throw new Refusal('confirmation-needed')
    }
    return session
  }

  /** The session of a request whose route asks for a role. */
  function sessionOf(request: FastifyRequest): CallerSession {
    const session = found.get(request)
    if (session === undefined) throw new Error('the route asks for no role')
    return session
  }

  return {
    /** Makes the guard check every route of this scope. A route without `config.access` does not start. */
    protect(scope: FastifyInstance): void {
      scope.addHook('onRoute', ({ url, config }) => {
        if (config?.access === undefined) throw new Error(`${url} does not say who may call it`)
      })
      scope.addHook('onRequest', check)
    },
    sessionOf,
    /** The session of a request whose route asks for a person. */
    personOf(request: FastifyRequest): ConsoleSession {
      const session = sessionOf(request)
      if ('token' in session) throw new Error('the route does not ask for a person')
      return session
    },
    /** Why a session is no longer valid. Throws if that cannot be decided. */
    problemOf: async (session: CallerSession): Promise<unknown> =>
      'token' in session ? services?.problemOf(session) : sessions.problemOf(session),
  }
}
