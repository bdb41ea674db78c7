import { randomUUID } from 'node:crypto'
import { failureText } from '../../background/failure-text.ts'
import type { Log } from '../../log/log.ts'
import { createCaptchas } from '../../login/captcha/captcha.ts'
import { drawCaptcha } from '../../login/captcha/captcha-image.ts'
import { createLockoutRecorder } from '../../login/lockouts/lockout-recorder.ts'
import { createLogin, type Login, type LoginParts, type OnIssued } from '../../login/login.ts'
import {
  addLoginLogMetrics,
  createLoginLog,
  type LoginLog,
  noLoginLog,
  onlyRecorded,
  type RecordAttempt,
} from '../../login/login-log.ts'
import type { FindLoginMethod } from '../../login/login-method.ts'
import type { MethodParts } from '../../login/method-kind.ts'
import { createPasswordHash } from '../../login/password-hash.ts'
import { type Counters, createThrottle } from '../../login/throttle.ts'
import type { MetricRegistry } from '../../metrics/registry.ts'
import { createAccounts } from '../../stores/accounts/accounts.ts'
import { gatewayActor, recordChange } from '../../stores/audit/audit.ts'
import type { Database } from '../../stores/database/database.ts'
import { createLinkedAccounts } from '../../stores/identities/linked-accounts.ts'
import { createProviderSessions } from '../../stores/identities/provider-sessions.ts'
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
import type { RevocationFeed } from '../../stores/revocations/revocation-feed.ts'
import type { ClaimPicker } from '../../token/carried-claims.ts'
import { createDerivedKeys, createLastingKey } from '../../token/derived-keys.ts'
import type { Assembly } from '../assembly.ts'
import { clock, type ServeOptions } from '../options.ts'
import { openSessions, recordLogins } from '../records/open-sessions.ts'
import { buildSecondFactor } from './build-second-factor.ts'
import { openMethods } from './open-methods.ts'
import { seedFirst } from './seed-first.ts'

/** Waiting longer at shutdown does not bring an unreachable store back. */
const maxFlushMs = 2000

/** What is issued to those who log in: a token of the gateway, or a session of the console. */
interface Issuing extends Pick<LoginParts, 'issueToken'> {
  /** Unset: every configured way to log in. */
  readonly findMethod?: FindLoginMethod
  readonly checkCaptcha?: false
  /** Unset: the token becomes a session. */
  readonly onIssued?: OnIssued
  readonly record?: RecordAttempt
}

/** Login, captcha and login log, on the configured stores. */
export async function openLogin(
  options: ServeOptions,
  facts: {
    redis: RedisClient | undefined
    database: Database
    keys: OpenKeys['current']
    captchaRequired: boolean
    /** Whether the mode allows a terminal to show the passwords of the first accounts. */
    passwordsPrinted: boolean
    /** Revokes every token of a user issued until now. Does not throw. */
    revokeTokensOf: (userId: string) => Promise<unknown>
    revokeToken: RevocationFeed['revoke']
    /** Unset: at the gateway. */
    console?: MethodParts['console']
    claims: ClaimPicker
  },
  assembly: Assembly,
) {
  const { config, log, now = clock, verifyPassword, draw = drawCaptcha, asWorker } = options
  const { database } = facts
  const passwordHash = createPasswordHash({
    concurrency: config.login.passwordConcurrency,
    queue: config.login.passwordQueue,
  })
  assembly.add({ close: passwordHash.close })
  const timeoutMs = config.database.statementTimeoutMs + 250
  const accounts = createAccounts(database, timeoutMs)
  const linkedAccounts = createLinkedAccounts(database, { ...facts, now, timeoutMs })
  const sessions = openSessions(options, facts, assembly)
  // Before accounts are created: their passwords would be lost if a module could not be loaded.
  const methods = await openMethods(
    config.login,
    {
      ...{ log, now, console: facts.console, claims: facts.claims },
      ...{ isAlone: asWorker === undefined, keys: facts.keys, verifyPassword },
      ...{ findAccount: accounts.findByUsername, passwordHash, linkedAccounts },
      claim: createUsedOnce(database, { now: () => now() * 1000, timeoutMs }).claim,
      providerSessions: createProviderSessions(database, { log, timeoutMs }),
      endToken(token) {
        sessions.ended(token)
        return facts.revokeToken(token)
      },
      recordEnded: createEndedRecord(database, log),
    },
    assembly,
  )
  const isFirst = database.kind === 'embedded' && asWorker === undefined
  const firstAccounts = isFirst
    ? await seedFirst(options, { ...facts, hash: passwordHash.hash })
    : undefined
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
  const flushMs = Math.min(config.shutdown.deadlineMs, maxFlushMs)
  assembly.add({ close: () => lockouts.close(flushMs) })
  const throttle = createThrottle({
    counters: buildCounters(redis, local, log, assembly.registry),
    onLockoutBegan: lockouts.began,
    limits: config.login,
    digestKey: createLastingKey(keys, 'throttle'),
    onLockout: assembly.registry.counter({
      name: 'postern_login_lockouts_total',
      help: 'Login attempts refused because the address or the account is locked out.',
      labels: ['by'],
      fromZero: [['address'], ['account']],
    }),
  })
  const loginLog = buildLoginLog({ config, log, now }, database, redis)
  assembly.add({
    metrics(registry) {
      if (config.logger.enableddb) addLoginLogMetrics(registry, loginLog.state)
    },
    details: { loginLog: loginLog.state },
    close: () => loginLog.close(flushMs),
  })

  const checkSecondFactor = buildSecondFactor(options, { database, keys }, timeoutMs)

  function loginWith(issuing: Issuing): Login {
    const login = createLogin({
      ...{ throttle, findMethod: methods.find, checkSecondFactor, now, record: loginLog.record },
      onIssued(...issued) {
        recordLogins(sessions)(...issued)
        methods.onIssued(...issued)
      },
      ...issuing,
      checkCaptcha:
        facts.captchaRequired && issuing.checkCaptcha !== false ? captchas.check : undefined,
    })
    return config.logger.required ? onlyRecorded(login, loginLog) : login
  }

  return {
    ...{ accounts, captchas, database, loginLog, loginWith, methods, passwordHash },
    ...{ firstAccounts, sessions, throttle, timeoutMs },
  }
}

function createEndedRecord(database: Database, log: Log): MethodParts['recordEnded'] {
  return (provider, tokens) =>
    recordChange(database, {
      actor: gatewayActor(),
      action: 'session.end',
      subject: `provider ${provider}`,
      after: { userIds: [...new Set(tokens.map(({ userId }) => userId))], tokens: tokens.length },
    }).catch((error: unknown) => {
      log.warn(
        { provider, reason: failureText(error) },
        'logout of a provider not in the audit log',
      )
    })
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
  registry.readGauge({
    name: 'postern_login_counted_alone',
    help: '1 while Redis is unreachable and login attempts are counted locally.',
    aggregate: 'max',
    read: () => Number(isAlone),
  })
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
