import { randomUUID } from 'node:crypto'
import type { Closing } from '../../closing.ts'
import type { FindCrossSite } from '../../gateway/cross-site.ts'
import { createOwnResponses } from '../../http/own-responses.ts'
import type { TokenCookie } from '../../http/token-cookie.ts'
import type { Log } from '../../log/log.ts'
import { createCaptchas } from '../../login/captcha/captcha.ts'
import { drawCaptcha } from '../../login/captcha/captcha-image.ts'
import { createChangePassword } from '../../login/change-password.ts'
import { createLockoutRecorder } from '../../login/lockouts/lockout-recorder.ts'
import { createLogin } from '../../login/login.ts'
import { createLoginLog, type LoginLog, noLoginLog, onlyRecorded } from '../../login/login-log.ts'
import { createPasswordHash } from '../../login/password-hash.ts'
import { type Counters, createThrottle } from '../../login/throttle.ts'
import type { Messages } from '../../messages/messages.ts'
import type { MetricRegistry } from '../../metrics/registry.ts'
import { createAccounts } from '../../stores/accounts/accounts.ts'
import { createOwnPasswords } from '../../stores/accounts/own-password.ts'
import { seedAccounts } from '../../stores/accounts/seed.ts'
import { type Database, openDatabase } from '../../stores/database/database.ts'
import { createLinkedAccounts } from '../../stores/identities/linked-accounts.ts'
import { createUsedOnce } from '../../stores/identities/used-once.ts'
import type { OpenKeys } from '../../stores/keys/key-feed.ts'
import { createDatabaseLockouts } from '../../stores/limits/database-lockouts.ts'
import { createMemoryCaptchas } from '../../stores/limits/memory-captchas.ts'
import { createMemoryCounters, type MemoryCounters } from '../../stores/limits/memory-counters.ts'
import { createRedisCaptchas } from '../../stores/limits/redis-captchas.ts'
import { createRedisCounters } from '../../stores/limits/redis-counters.ts'
import { createRedisLockouts } from '../../stores/limits/redis-lockouts.ts'
import { createLoginLogTable } from '../../stores/login-log/login-log-table.ts'
import { createSharedLoginLog } from '../../stores/login-log/shared-login-log.ts'
import type { RedisClient } from '../../stores/redis/redis.ts'
import { createDerivedKeys, createLastingKey } from '../../token/derived-keys.ts'
import type { TokenRevocation } from '../../token/revocations.ts'
import type { Tokens, VerifiedToken } from '../../token/tokens.ts'
import { clock, type ServeOptions } from '../options.ts'
import { openSessions, recordLogins } from '../records/open-sessions.ts'
import { buildDirectory } from './build-directory.ts'
import { buildLoginMethods } from './build-login-methods.ts'
import { buildOidc } from './build-oidc.ts'
import { buildPage, type ResponseSettings } from './build-page.ts'
import { buildSecondFactor } from './build-second-factor.ts'
import { openLoginModule } from './open-login-module.ts'

/** Waiting longer at shutdown does not bring an unreachable store back. */
const maxFlushMs = 2000

/** Login, captcha and login log, on the configured stores. */
export async function buildLogin(
  options: ServeOptions,
  facts: {
    tokens: Tokens
    redis: RedisClient | undefined
    keys: OpenKeys['current']
    registry: MetricRegistry
    captchaRequired: boolean
    cookie: TokenCookie
    crossSite: FindCrossSite
    /** Revokes every token of a user issued until now. Does not throw. */
    revokeTokensOf: (userId: string) => Promise<unknown>
    /** Revokes one token on every gateway. Does not throw. */
    revokeToken: (revocation: TokenRevocation) => Promise<unknown>
  },
  closing: Closing,
) {
  const { config, log, now = clock, verifyPassword, draw = drawCaptcha } = options
  const database = await openDatabase({
    ...config.database,
    directory: config.application.dataDirectory,
    mayCreate: true,
    // Only login needs the database; calls with a token do not.
    onUnreachable: (fault) => log.warn({ reason: fault.message }, 'database unreachable'),
    onUnguardedAudit: () =>
      log.warn(
        'rows of postern_audit can be changed: the database denied the triggers that reject it; run "postern db migrate" as a user with the privilege TRIGGER, or revoke UPDATE and DELETE on the table',
      ),
  })
  closing.add(database.close)
  const passwordHash = createPasswordHash({
    concurrency: config.login.passwordConcurrency,
    queue: config.login.passwordQueue,
  })
  closing.add(passwordHash.close)
  const timeoutMs = config.database.statementTimeoutMs + 250
  const accounts = createAccounts(database, timeoutMs)
  const ownPasswords = createOwnPasswords(database, timeoutMs)
  const linkedAccounts = createLinkedAccounts(database, { ...facts, now, timeoutMs })
  // Before accounts are created: their passwords would be lost if the module could not be loaded.
  const loginModule = await openLoginModule(
    config,
    { log, accounts, linkedAccounts, registry: facts.registry },
    closing,
  )
  const seeded = database.kind === 'embedded' ? await seedAccounts(database, passwordHash.hash) : []
  // Without the database the costs become known one by one, as accounts log in.
  accounts.passwordCosts().then(passwordHash.expect, () => {})

  const { redis, keys } = facts
  const captchas = createCaptchas({
    ...config.captcha,
    store:
      redis === undefined
        ? createMemoryCaptchas({ ...config.captcha, now: () => now() * 1000 })
        : createRedisCaptchas(redis, config.captcha),
    draw,
    digestKeys: createDerivedKeys(keys, 'captcha'),
    sealKeys: createDerivedKeys(keys, 'captcha-text'),
    now,
  })
  const local = createMemoryCounters()
  const lockouts = createLockoutRecorder({
    records:
      redis === undefined
        ? createDatabaseLockouts(database).recordsOf(randomUUID())
        : createRedisLockouts(redis).records,
    sealKey: createLastingKey(keys, 'lockout'),
    forget: local.forget,
    log,
  })
  closing.add(() => lockouts.close(Math.min(config.shutdown.deadlineMs, maxFlushMs)))
  const throttle = createThrottle({
    counters: buildCounters(redis, local, log, facts.registry),
    onLockoutBegan: lockouts.began,
    limits: config.login,
    digestKey: createLastingKey(keys, 'throttle'),
    onLockout: facts.registry.counter({
      name: 'postern_login_lockouts_total',
      help: 'Login attempts refused because the address or the account is locked out.',
      labels: ['by'],
      fromZero: [['address'], ['account']],
    }),
  })
  const loginLog = buildLoginLog({ config, log, now }, database, redis)
  closing.add(() => loginLog.close(Math.min(config.shutdown.deadlineMs, maxFlushMs)))

  const directory = buildDirectory({ config, log }, facts.registry, closing)
  const sessions = openSessions(options, { ...facts, database }, closing)
  const usedOnce = createUsedOnce(database, { now: () => now() * 1000, timeoutMs })
  const oidc = buildOidc(
    options,
    { ...facts, linkedAccounts, usedOnce, database, sessions, timeoutMs },
    closing,
  )
  const issueTo = createLogin({
    throttle,
    findMethod: buildLoginMethods({
      config: config.login,
      accounts,
      passwordHash,
      verifyPassword,
      linkedAccounts,
      loginModule: loginModule?.method,
      directory,
      oidc: oidc.methods,
    }),
    checkCaptcha: facts.captchaRequired
      ? ({ uuid, code }) => captchas.check(uuid, code)
      : undefined,
    checkSecondFactor: buildSecondFactor(options, { database, keys }, timeoutMs),
    issueToken: facts.tokens.issue,
    now,
    record: loginLog.record,
    onIssued(...login) {
      recordLogins(sessions)(...login)
      oidc.onIssued(...login)
    },
  })
  const login = config.logger.required ? onlyRecorded(issueTo, loginLog) : issueTo
  const pageWith = await buildPage(config)
  /**
   * For each configuration anew. Later than the rest: the revocation list needs the database that
   * login opens.
   */
  const responsesWith = (
    current: ResponseSettings & { readonly messages: Messages },
    revokeOthers: (token: VerifiedToken) => Promise<'everywhere' | 'here'>,
  ) => {
    const common = {
      login,
      changePassword: createChangePassword({
        throttle,
        local: config.login.local,
        findAccount: ownPasswords.find,
        passwordHash,
        replacePassword: ownPasswords.replace,
        revokeOthers,
      }),
      throttle,
      record: loginLog.record,
      cookie: facts.cookie,
      crossSite: facts.crossSite,
      messages: current.messages,
      endSessionUrl: oidc.endSessionUrl,
    }
    return createOwnResponses({
      ...common,
      oidc: oidc.responsesWith(common),
      issueCaptcha: captchas.issue,
      readProfile: accounts.profile,
      page: pageWith?.(current, {
        ...common,
        verifyToken: facts.tokens.verify,
        captchas: facts.captchaRequired ? captchas : undefined,
      }),
    })
  }

  const moduleState = loginModule?.state
  return { responsesWith, seeded, database, loginLog, sessions, moduleState, directory, oidc }
}

/** With `logger.enableddb` off, it uses neither the table nor Redis. */
function buildLoginLog(
  { config, log, now }: Required<Pick<ServeOptions, 'config' | 'log' | 'now'>>,
  database: Database,
  redis: RedisClient | undefined,
): LoginLog {
  if (!config.logger.enableddb) return noLoginLog
  const { insert } = createLoginLogTable(database)
  const refuseWhenFull = config.logger.required
  return createLoginLog({
    insert,
    shared: redis && createSharedLoginLog({ redis, insert, log, refuseWhenFull }),
    log,
    now: () => new Date(now() * 1000),
  })
}

function buildCounters(
  redis: RedisClient | undefined,
  local: MemoryCounters,
  log: Log,
  registry: MetricRegistry,
): Counters {
  if (redis === undefined) return local
  let isAlone = false
  registry.readGauge(
    {
      name: 'postern_login_counted_alone',
      help: '1 while Redis is unreachable and login attempts are counted locally.',
      aggregate: 'max',
    },
    () => [{ value: Number(isAlone) }],
  )
  return createRedisCounters({
    redis,
    local,
    onUnreachable(reason) {
      isAlone = reason !== undefined
      if (reason === undefined) log.info('Redis reachable: counting login attempts in Redis again')
      else log.warn({ reason }, 'Redis unreachable: counting login attempts locally')
    },
  })
}
