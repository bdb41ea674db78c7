import type { FastifyInstance, FastifyRequest } from 'fastify'
import { pageThatMovesOn } from '../../http/oidc/after-login.ts'
import { oidcPaths } from '../../kernel/endpoints.ts'
import { Fault, Refusal } from '../../kernel/errors.ts'
import { Fields } from '../../login/fields.ts'
import type { LoginAttempt } from '../../login/login-attempt.ts'
import { flowCookie } from '../../login/methods/oidc/flow-cookie.ts'
import type { Redirects } from '../../login/redirect-login.ts'
import type { IssuedToken } from '../../token/sign-token.ts'
import type { FindCallerOrigin } from './caller-origin.ts'
import { readCookie, type SessionCookie } from './cookie.ts'
import type { ConsoleSessions } from './session.ts'

type Cookie = (name: string) => string | undefined

interface OidcRouteParts extends Pick<Redirects, 'begin' | 'purposeOf'> {
  /** Logs in with the answer of a provider, or confirms the session that the login began with. */
  readonly logInByProvider: (
    attempt: LoginAttempt,
    provider: string,
    confirms: string | undefined,
  ) => Promise<IssuedToken>
  readonly sessions: Pick<ConsoleSessions, 'open'>
  readonly cookie: SessionCookie
  readonly originOf: FindCallerOrigin
}

const home = '/console/'

/** HEAD promises to change nothing, and a login begins or ends here. */
const onlyGet = { exposeHeadRoute: false } as const

/** Logins by redirect to an OpenID Connect provider, and back to a callback of the console. */
export function addOidcRoutes(scope: FastifyInstance, parts: OidcRouteParts): void {
  const { cookie, originOf } = parts
  for (const [provider, begin] of parts.begin) {
    const paths = oidcPaths(provider)

    scope.get(
      below(paths.begin),
      { ...onlyGet, config: { access: 'anyone' } },
      async (request, reply) => {
        const query = request.query as Readonly<Record<string, unknown>>
        const confirms = 'confirm' in query ? await ownSession(request) : undefined
        try {
          const { url, cookies } = await begin({
            ...{ to: returnAddress(query['to']), confirms },
            cookieNames: cookieNames(request),
          })
          return reply.header('set-cookie', cookies).redirect(url, 302)
        } catch (error) {
          // A link led here, and a person reads the answer.
          if (!(error instanceof Fault)) throw error
          return reply.redirect(`${home}?error=${error.part}`, 302)
        }
      },
    )

    scope.get(
      below(paths.callback),
      { ...onlyGet, config: { access: 'anyone-from-anywhere' } },
      async (request, reply) => {
        const cookies: string[] = []
        const read: Cookie = (name) => readCookie(request.headers.cookie, name)
        const state = stateOf(request)
        const { to, confirms } = await parts.purposeOf(state, read)
        const attempt: LoginAttempt = {
          ...originOf(request),
          fields: () => answerFields(request, provider),
          cookie: read,
          setCookie: (one) => void cookies.push(one),
          // A provider is another site. Without the cookie of the login, this browser began none here.
          foreign: read(flowCookie(state)) === undefined,
        }
        const next = await parts.logInByProvider(attempt, provider, confirms).then(
          (issued) => {
            cookies.push(cookie.issued(issued.token))
            return to
          },
          (error: unknown) => {
            const kind = kindOf(error)
            if (kind === undefined) throw error
            return `${home}?error=${kind}`
          },
        )
        return reply
          .header('set-cookie', cookies)
          .type('text/html; charset=utf-8')
          .send(pageThatMovesOn(next))
      },
    )
  }

  /** The cookie of the caller, if it is a valid session: there is nothing else to confirm. */
  async function ownSession({ headers }: FastifyRequest): Promise<string> {
    const text = cookie.read(headers.cookie)
    if (text === undefined) throw new Refusal('token-missing')
    await parts.sessions.open(text)
    return text
  }
}

/** What the login page says in words. `undefined`: a bug. */
function kindOf(error: unknown): string | undefined {
  if (error instanceof Refusal) return error.kind
  return error instanceof Fault ? error.part : undefined
}

/** The console serves the paths of the gateway below its own. */
export function inConsole(path: string): string {
  return `/console${path}`
}

/**
 * Providers send people back to the console, at the address by which browsers reach it. It is never
 * made from a Host header, which a client chooses; without `console.url` there is none.
 */
export function callbacksOf(origin: string | undefined): ((path: string) => string) | undefined {
  return origin === undefined ? undefined : (path) => `${origin}${inConsole(path)}`
}

/** Without the version, which is part of the prefix of the scope. */
function below(path: string): string {
  return path.replace(/^\/api\/v1/, '')
}

/** Only to our own pages: else this would be an open redirector (CWE-601). */
function returnAddress(to: unknown): string {
  return typeof to === 'string' && /^#[!-~]{0,1024}$/.test(to) ? `${home}${to}` : home
}

function stateOf({ query }: FastifyRequest): string {
  const { state } = query as { readonly state?: unknown }
  return typeof state === 'string' ? state : ''
}

/** A parameter that comes twice could be read in two ways (RFC 6749 3.1). */
function answerFields({ query }: FastifyRequest, provider: string): Fields {
  const given = Object.entries(query as object)
  if (given.some(([, value]) => Array.isArray(value))) {
    throw new Refusal('bad-login-request', { reason: 'a parameter comes twice' })
  }
  return new Fields('bad-login-request', [...given, ['provider', provider]])
}

function cookieNames({ headers }: FastifyRequest): readonly string[] {
  return (headers.cookie ?? '').split(';').map((pair) => pair.split('=', 1)[0]?.trim() ?? '')
}
