import { modeFacts } from '../../config/mode.ts'
import type { Config } from '../../config/schema/schema.ts'
import { callbacksOf } from '../../console/access/oidc-routes.ts'
import { createConsoleRoles } from '../../console/access/roles.ts'
import { createServiceSessions } from '../../console/access/service-sessions.ts'
import { type ConsoleSession, createConsoleSessions } from '../../console/access/session.ts'
import { Refusal } from '../../kernel/errors.ts'
import { Fields } from '../../login/fields.ts'
import type { LoginAttempt } from '../../login/login-attempt.ts'
import type { RecordAttempt } from '../../login/login-log.ts'
import type { LoginMethod } from '../../login/login-method.ts'
import { openRedis } from '../../stores/redis/redis.ts'
import type { Caller } from '../../token/caller.ts'
import { noClaims } from '../../token/carried-claims.ts'
import { createDerivedKeys } from '../../token/derived-keys.ts'
import { createRevocations } from '../../token/revocations.ts'
import { createSealing } from '../../token/sealing.ts'
import type { IssuedToken } from '../../token/sign-token.ts'
import { userRevocation } from '../../token/user-marks.ts'
import type { Assembly } from '../assembly.ts'
import { createConfiguredTokens, openConfiguredKeys } from '../build-tokens.ts'
import { openLogin } from '../login/open-login.ts'
import { openDatabase } from '../open-database.ts'
import { openRevocationFeed } from '../open-token-stores.ts'
import { clock, type ServeOptions } from '../options.ts'

/** The gateway's login, on the same stores, that issues sessions of the console instead of tokens. */
export async function openConsoleLogin(options: ServeOptions, assembly: Assembly) {
  const { config, now = clock } = options
  const mode = modeFacts(config.application.mode, config.jwt.timeout)
  const redis = await openRedis(config.redis)
  if (redis !== undefined) assembly.add({ close: redis.close })
  const keys = await openConfiguredKeys(options, mode.weakSecretAllowed)
  assembly.add({ close: keys.close })
  const revocations = createRevocations(() => now() * 1000)
  const database = await openDatabase(options, assembly)
  const feed = await openRevocationFeed(options, { redis, database, revocations }, assembly)
  const login = await openLogin(
    options,
    {
      console: { callbackOf: callbacksOf(config.console.url) },
      redis,
      database,
      claims: noClaims,
      keys: keys.current,
      captchaRequired: mode.captchaRequired,
      passwordsPrinted: mode.passwordsPrinted,
      revokeTokensOf: (userId) => feed.revokeUser(userRevocation(userId, mode)),
      revokeToken: feed.revoke,
    },
    assembly,
  )
  const { methods } = login
  const sessions = createConsoleSessions({
    sealing: createSealing(createDerivedKeys(keys.current, 'console')),
    revocations,
    findAccount: login.accounts.currentState,
    findRole: createConsoleRoles(config.console.roles),
    lifetimeSeconds: config.console.sessionSeconds,
    now,
    onSeen: login.sessions.seen,
  })
  const { services } = config.console
  const hasServices = Object.values(services).some((names) => names.length > 0)

  const record: RecordAttempt = (from, ...rest) =>
    login.loginLog.record({ ...from, at: 'console' }, ...rest)

  async function confirmed(session: ConsoleSession, { userId }: Caller): Promise<IssuedToken> {
    if (userId !== session.userId) throw new Refusal('wrong-credentials')
    return sessions.confirm(session)
  }

  return {
    sessions,
    services: hasServices
      ? createServiceSessions({
          tokens: createConfiguredTokens(options, mode, { keys: keys.current, revocations }),
          findRole: createConsoleRoles(services),
          onSeen: login.sessions.seen,
        })
      : undefined,
    throttle: login.throttle,
    captchas: mode.captchaRequired ? login.captchas : undefined,
    mode: mode.name,
    hasPassword: takesPassword(methods.formMethod),
    redirects: methods.redirects,
    logIn(attempt: LoginAttempt): Promise<IssuedToken> {
      const check = login.loginWith({
        ...{ record, findMethod: methods.findFormMethod },
        issueToken: (caller, readAt) =>
          sessions.issue(caller, readAt, { provider: providerIn(attempt), confirmed: true }),
      })
      return check(mode.captchaRequired ? attempt : withoutCaptcha(attempt))
    },
    async logInByProvider(
      attempt: LoginAttempt,
      provider: string,
      confirms: string | undefined,
    ): Promise<IssuedToken> {
      const session = confirms === undefined ? undefined : await sessions.open(confirms)
      const check = login.loginWith({
        record,
        issueToken: (caller, readAt) =>
          session === undefined
            ? sessions.issue(caller, readAt, { provider, confirmed: false })
            : confirmed(session, caller),
        ...(session !== undefined && { onIssued() {} }),
      })
      return check(attempt)
    },
    confirm(session: ConsoleSession, attempt: LoginAttempt): Promise<IssuedToken> {
      const check = login.loginWith({
        ...{ record, findMethod: methods.findFormMethod },
        // The session is proof enough that a person sits there, and the limits count guesses.
        checkCaptcha: false,
        issueToken: (caller) => confirmed(session, caller),
        onIssued() {},
      })
      return check({ ...attempt, fields: () => ownerFields(session, attempt) })
    },
    async logOut(session: ConsoleSession, from: Pick<LoginAttempt, 'address' | 'userAgent'>) {
      const { id, userId, username, issuedAt, expiresAt } = session
      await feed.revoke({ kind: 'token', id, userId, issuedAt, until: expiresAt })
      login.sessions.ended(session)
      record(from, username, 'logged-out')
    },
  }
}

/** Whether the form of the pages fits: also for a login module that takes a name and a password. */
function takesPassword(byDefault: LoginMethod | undefined): boolean {
  const typed = [
    ['username', 'a'],
    ['password', 'a'],
  ] as const
  const attempt = { address: '', userAgent: '', cookie: () => undefined, foreign: false }
  const fields = () => new Fields('bad-login-request', typed)
  try {
    return byDefault?.bind(fields(), { ...attempt, fields }) !== undefined
  } catch (error) {
    if (error instanceof Refusal) return false
    throw error
  }
}

/** Not checked, but login wants these fields in every mode. */
const noCaptcha = [
  ['uuid', '-'],
  ['code', '-'],
] as const

/** Forms show no captcha in modes without one. */
function withoutCaptcha(attempt: LoginAttempt): LoginAttempt {
  return { ...attempt, fields: () => attempt.fields().with(noCaptcha) }
}

function providerIn({ fields }: LoginAttempt): string | undefined {
  return fields().optionalText('provider', 64)
}

/** What the owner typed, under the name of the session: it confirms no other account. */
function ownerFields({ username, provider }: ConsoleSession, { fields }: LoginAttempt): Fields {
  const form = fields()
  return new Fields('bad-login-request', [
    ['username', username],
    ['provider', provider],
    ['password', form.get('password')],
    ['otp', form.get('otp')],
    ...noCaptcha,
  ])
}

/** Whether browsers reach the console by https. */
export function isSecure({ tls, url }: Config['console']): boolean {
  return tls !== undefined || url?.startsWith('https:') === true
}
