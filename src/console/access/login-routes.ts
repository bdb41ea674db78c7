import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ValueOf } from '../../config/schema/type.ts'
import { Fields } from '../../login/fields.ts'
import type { LoginAttempt } from '../../login/login-attempt.ts'
import type { Throttle } from '../../login/throttle.ts'
import type { IssuedToken } from '../../token/sign-token.ts'
import type * as answers from './answers.ts'
import type { CallerOrigin, FindCallerOrigin } from './caller-origin.ts'
import { readCookie, type SessionCookie } from './cookie.ts'
import type { ConsoleGuard } from './guard.ts'
import { type ConsoleSession, type ConsoleSessions, confirmedMs } from './session.ts'

interface LoginRouteParts {
  readonly guard: Pick<ConsoleGuard, 'personOf'>
  readonly sessions: Pick<ConsoleSessions, 'open' | 'isConfirmed'>
  readonly cookie: SessionCookie
  readonly originOf: FindCallerOrigin
  /** Logs in with what a form carries. */
  readonly logIn: (attempt: LoginAttempt) => Promise<IssuedToken>
  /** Checks password, and code if enrolled, of the owner of a session. */
  readonly confirm: (session: ConsoleSession, attempt: LoginAttempt) => Promise<IssuedToken>
  readonly logOut: (session: ConsoleSession, from: CallerOrigin) => Promise<void>
  readonly throttle: Pick<Throttle, 'captcha'>
  /** What pages show about this console. */
  readonly facts: {
    readonly mode: string
    readonly version: string
    readonly write: boolean
    /** Providers whose people can confirm a session there. */
    readonly providers: readonly string[]
  }
}

/** A few short fields as JSON need less. */
const bodyLimit = 16_384

/** Login, logout, and the session of the caller. */
export function addLoginRoutes(scope: FastifyInstance, parts: LoginRouteParts): void {
  const { guard, sessions, cookie, originOf, facts } = parts

  async function replySession(
    reply: FastifyReply,
    issued: IssuedToken,
  ): Promise<ValueOf<typeof answers.session>> {
    void reply.header('set-cookie', cookie.issued(issued.token))
    return describe(await sessions.open(issued.token))
  }

  function describe(session: ConsoleSession): ValueOf<typeof answers.session> {
    const { id, userId, username, roleKey, role, expiresAt, confirmedAt, provider } = session
    const confirmedUntil =
      confirmedAt !== undefined && sessions.isConfirmed(session) ? confirmedAt + confirmedMs : null
    const isByProvider = provider !== undefined && facts.providers.includes(provider)
    return {
      ...{ id, userId, username, roleKey, role, expiresAt: toTime(expiresAt) },
      confirmedUntil: confirmedUntil === null ? null : toTime(confirmedUntil),
      confirmBy: isByProvider ? 'provider' : 'password',
      provider: provider ?? null,
      ...{ mode: facts.mode, version: facts.version, write: facts.write },
    }
  }

  function attemptOf(request: FastifyRequest, fields: readonly (readonly [string, unknown])[]) {
    return {
      ...originOf(request),
      fields: () => new Fields('bad-login-request', fields),
      cookie: (name: string) => readCookie(request.headers.cookie, name),
      // The guard has refused other sites.
      foreign: false,
    }
  }

  const ofPerson = { config: { access: { role: 'reader', person: true } }, bodyLimit } as const
  scope.get('/session', ofPerson, async (request) => describe(guard.personOf(request)))

  scope.post('/login', { config: { access: 'anyone' }, bodyLimit }, async (request, reply) => {
    const attempt = attemptOf(request, fieldsIn(request))
    return replySession(reply, await parts.logIn(attempt))
  })

  scope.post('/session/confirm', ofPerson, async (request, reply) => {
    const session = guard.personOf(request)
    const given = fieldsIn(request)
    return replySession(reply, await parts.confirm(session, attemptOf(request, given)))
  })

  scope.post('/logout', ofPerson, async (request, reply) => {
    await parts.logOut(guard.personOf(request), originOf(request))
    void reply.header('set-cookie', cookie.cleared)
    return { ok: true } satisfies ValueOf<typeof answers.loggedOut>
  })
}

/** A body without an object has no fields. */
function fieldsIn({ body }: FastifyRequest): readonly (readonly [string, unknown])[] {
  return Object.entries(typeof body === 'object' && body !== null ? body : {})
}

function toTime(ms: number): string {
  return new Date(ms).toISOString()
}
