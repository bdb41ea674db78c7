import type { Server } from 'node:http'
import { type Closing, createClosing } from './closing.ts'
import { modeFacts } from './config/mode.ts'
import type { Config } from './config/schema.ts'
import { secretWeakness } from './config/secret-strength.ts'
import { Invalid } from './errors.ts'
import { createHeaderReader } from './gateway/arriving-headers.ts'
import { createAssertionHeader, noAssertion } from './gateway/assertion-header.ts'
import { createCheck } from './gateway/check.ts'
import { createOriginFinder } from './gateway/client-origin.ts'
import { createCors } from './gateway/cors.ts'
import { createCrossSite, type FindCrossSite } from './gateway/cross-site.ts'
import { createIdentityHeaders } from './gateway/identity-headers.ts'
import { createOpenExchanges } from './gateway/open-exchanges.ts'
import { createOriginalReader } from './gateway/original-request.ts'
import { createOwnEndpoints } from './gateway/own-endpoints.ts'
import { createPipeline, type OwnAnswers } from './gateway/pipeline.ts'
import { createRelayHeaders } from './gateway/relayed-headers.ts'
import { createRelayTrailers } from './gateway/relayed-trailers.ts'
import { createRouteLimits } from './gateway/route-limits.ts'
import { createPathReader, createRoutes } from './gateway/routes.ts'
import { createTrust } from './gateway/trusted-peers.ts'
import { createTunnels, type Tunnels } from './gateway/tunnels.ts'
import type { UpstreamSettings } from './gateway/upstream.ts'
import { createUpstreamHeaders } from './gateway/upstream-headers.ts'
import { createUpstreams } from './gateway/upstreams.ts'
import { createDrain } from './http/drain.ts'
import { refusalEnvelopes } from './http/envelope.ts'
import { createForwardAuthServer } from './http/forward-auth-server.ts'
import { listen } from './http/listen.ts'
import { createOpsServer } from './http/ops-server.ts'
import { createOwnAnswers } from './http/own-answers.ts'
import { createPublicServer } from './http/public-server.ts'
import { createTokenCookie, type TokenCookie } from './http/token-cookie.ts'
import type { Log } from './log.ts'
import { addressBlock } from './login/address-block.ts'
import { createCaptchas } from './login/captcha.ts'
import { drawCaptcha } from './login/captcha-image.ts'
import type { VerifyCredentials } from './login/credentials.ts'
import { createLogin } from './login/login.ts'
import { createLoginLog, type LoginLog, noLoginLog, onlyRecorded } from './login/login-log.ts'
import { createPasswordCredentials } from './login/password-credentials.ts'
import { createPasswordHash } from './login/password-hash.ts'
import { type Counters, createThrottle } from './login/throttle.ts'
import { addCertificateMetrics } from './metrics/certificate-metrics.ts'
import { addKeyMetrics } from './metrics/key-metrics.ts'
import { addLoginLogMetrics } from './metrics/login-log-metrics.ts'
import { addPolicyMetrics } from './metrics/policy-metrics.ts'
import { createFigures, type Figures } from './metrics/registry.ts'
import { createRequestMetrics } from './metrics/request-metrics.ts'
import { addRevocationMetrics } from './metrics/revocation-metrics.ts'
import { addUpstreamMetrics } from './metrics/upstream-metrics.ts'
import { createLivePolicies } from './policy/live.ts'
import { createAccounts } from './stores/accounts.ts'
import { openCertificate } from './stores/certificate-feed.ts'
import { type Database, openDatabase } from './stores/database.ts'
import { type OpenKeys, openKeys } from './stores/key-feed.ts'
import { createLoginLogTable } from './stores/login-log-table.ts'
import { createMemoryCaptchas } from './stores/memory-captchas.ts'
import { createMemoryCounters } from './stores/memory-counters.ts'
import { type OpenPolicySource, openPolicySource } from './stores/open-policy-source.ts'
import { openRedis } from './stores/open-redis.ts'
import { openRevocations } from './stores/open-revocations.ts'
import { readClientContext } from './stores/pem-files.ts'
import type { RedisClient } from './stores/redis.ts'
import { createRedisCaptchas } from './stores/redis-captchas.ts'
import { createRedisCounters } from './stores/redis-counters.ts'
import { createRedisTallies } from './stores/redis-tallies.ts'
import type { RevocationFeed } from './stores/revocation-feed.ts'
import { type SeededAccount, seedAccounts } from './stores/seed.ts'
import { createSharedLoginLog } from './stores/shared-login-log.ts'
import { sharedSecret } from './stores/shared-secret.ts'
import { assertionSigner, createAssertions } from './token/assertions.ts'
import { createDerivedKeys, createLastingKey } from './token/derived-keys.ts'
import { publicJwks } from './token/key-set.ts'
import { createRevocations } from './token/revocations.ts'
import { createTokens, endingOf, type Tokens, type VerifiedToken } from './token/tokens.ts'
import { version } from './version.ts'

export interface ServeOptions {
  readonly config: Config
  readonly log: Log
  /** Seconds since the epoch. */
  readonly now?: () => number
  /** Another login method (specification, Authentication 7). */
  readonly verifyCredentials?: VerifyCredentials
  /** Another picture of a captcha's text. */
  readonly draw?: (text: string) => Buffer
}

export interface RunningPostern {
  readonly publicPort: number
  readonly opsPort: number
  /** Where other proxies ask, if they may. */
  readonly forwardAuthPort: number | undefined
  /** Accounts made at the first start of the embedded database, with their passwords. */
  readonly seeded: readonly SeededAccount[]
  /** The policy that was in force when it began to listen, if there was one. */
  readonly revision: string | undefined
  close(): Promise<void>
}

/** Builds every part, in order, and listens. There is no half start: what fails closes the rest. */
export async function serve(options: ServeOptions): Promise<RunningPostern> {
  const closing = createClosing()
  try {
    return await start(options, closing)
  } catch (error) {
    await closing.close()
    throw error
  }
}

async function start(options: ServeOptions, closing: Closing): Promise<RunningPostern> {
  const { config, log, now = clock } = options
  const mode = modeFacts(config.application.mode, config.jwt.timeout)
  if (mode.warning !== undefined) log.warn(mode.warning)
  if (!mode.captchaRequired) {
    log.warn('MODE DEV: no captcha, tokens last 100 years. Never put this in front of real data.')
  }

  const figures = createFigures()
  const redis = await openRedis(config.redis)
  if (redis !== undefined) closing.add(redis.close)
  const policies = await openPolicySource({ ...config, live: createLivePolicies(), log, version })
  closing.add(policies.close)

  const keys = await buildKeys(options, mode.weakSecretAllowed)
  closing.add(keys.close)
  const unsigned = assertionProblem(config, keys)
  if (unsigned !== undefined) throw new Invalid([{ file: 'jwt.keyDirectory', message: unsigned }])
  const revocations = createRevocations(() => now() * 1000)
  const tokens = createTokens({
    keys: keys.current,
    revocations,
    lifetimeSeconds: mode.tokenLifetimeSeconds,
    maxTokenBytes: config.jwt.maxTokenBytes,
    clockSkewSeconds: config.jwt.clockSkewSeconds,
    now,
  })

  const cookie = createTokenCookie({
    ...config.cookie,
    secure: mode.secureCookie,
    lifetimeSeconds: mode.tokenLifetimeSeconds,
  })
  const crossSite = createCrossSite(config.cookie.trustedOrigins)

  const { captchaRequired } = mode
  const facts = { tokens, redis, keys: keys.current, figures, captchaRequired, cookie, crossSite }
  const login = await buildLogin(options, facts, closing)
  const ended = await openRevocations({
    redis,
    redisSettings: config.redis,
    database: login.database,
    ...config.revocation,
    revocations,
    log,
    now: () => now() * 1000,
  })
  closing.add(ended.close)
  const tunnels = createTunnels(config.upgrades.idleTimeoutMs)
  const tls = await buildTls(options, figures, closing)
  const { pass, check } = await buildGateway(
    config,
    {
      tokens,
      ended,
      policies: policies.current,
      answers: login.answers,
      redis,
      figures,
      tunnels,
      now,
      keys: keys.current,
      cookie,
      crossSite,
    },
    closing,
  )
  const rim = { log, metrics: createRequestMetrics(figures), limits: config.limits }
  const publicServer = createPublicServer({
    ...rim,
    pass,
    refusals: refusalEnvelopes(config.refusals.notPermittedCode),
    upgrades: config.upgrades.protocols,
    tls,
  })
  addMetrics(figures, mode.name, policies)
  addRevocationMetrics(figures, ended.state)
  if (config.logger.enableddb) addLoginLogMetrics(figures, login.loginLog.state)
  addKeyMetrics(figures, keys.state)
  const drain = createDrain(publicServer, config.shutdown, () => tunnels.closeAll(1001))
  const opsServer = createOpsServer({
    version,
    mode: mode.name,
    revision: policies.revision,
    checks: [
      { name: 'policy', problem: policies.problem },
      { name: 'assertion', problem: () => assertionProblem(config, keys) },
      { name: 'life', problem: () => (drain.isDraining() ? 'closing' : undefined) },
    ],
    details: {
      policy: policies.state,
      keys: keys.state,
      revocation: ended.state,
      loginLog: login.loginLog.state,
      ...(tls !== undefined && { tls: tls.state }),
    },
    metrics: figures,
    publicKeys: () => publicJwks(keys.current()),
  })

  const opsPort = await listen(opsServer.server, config.ops, () => opsServer.ready())
  closing.add(() => opsServer.close())
  const asked = await openForwardAuth(config, () => createForwardAuthServer({ ...rim, check }))
  closing.add(asked.close)
  const publicPort = await listen(publicServer, config.application)
  // At the same time: whoever asks there is to notice as early as whoever calls here.
  closing.add(() => Promise.all([drain.close(), asked.close()]))

  return {
    publicPort,
    opsPort,
    forwardAuthPort: asked.port,
    seeded: login.seeded,
    revision: policies.revision(),
    close: closing.close,
  }
}

/** The port for other proxies, if there is to be one. Closing it twice is closing it once. */
async function openForwardAuth(
  { forwardAuth, shutdown }: Config,
  create: () => Server,
): Promise<{ port: number | undefined; close(): Promise<void> }> {
  if (!forwardAuth.enabled) return { port: undefined, close: async () => {} }
  const server = create()
  const drain = createDrain(server, shutdown)
  const port = await listen(server, forwardAuth)
  let closed: Promise<void> | undefined
  return {
    port,
    close() {
      closed ??= drain.close()
      return closed
    },
  }
}

function addMetrics(figures: Figures, mode: string, policies: OpenPolicySource): void {
  addPolicyMetrics(figures, policies.state)
  figures.readGauge(
    {
      name: 'postern_mode_info',
      help: 'Always 1; the label says in which mode it runs.',
      labels: ['mode', 'version'],
    },
    () => [{ value: 1, labels: { mode, version } }],
  )
}

/** What the login log may add to the deadline: a store that is away does not come back by waiting. */
const longestFlushMs = 2000

function clock(): number {
  return Date.now() / 1000
}

async function buildKeys({ config, log }: ServeOptions, weakAllowed: boolean): Promise<OpenKeys> {
  const { dataDirectory } = config.application
  const secret = await sharedSecret(config.jwt, { dataDirectory, weakAllowed })
  return openKeys({ directory: config.jwt.keyDirectory, secret, secretWeakness, log })
}

/** Upstreams that expect an assertion would refuse every call without one. */
function assertionProblem({ identity }: Config, keys: OpenKeys): string | undefined {
  if (!identity.assertion.enabled || assertionSigner(keys.current()) !== undefined) return undefined
  return 'identity.assertion needs one private key that is no shared secret, or one named to sign'
}

/** The certificate of the public port, if it has one. */
async function buildTls({ config, log }: ServeOptions, figures: Figures, closing: Closing) {
  if (config.tls === undefined) return undefined
  const certificate = await openCertificate({ ...config.tls, log })
  closing.add(certificate.close)
  const failed = addCertificateMetrics(figures, certificate.state)
  return { ...certificate, minVersion: config.tls.minVersion, failed }
}

/** Every upstream with what its TLS needs, read from files. */
async function upstreamSettings(config: Config): Promise<Record<string, UpstreamSettings>> {
  const entries = Object.entries(config.upstreams).map(
    async ([name, { tls, ...settings }]): Promise<[string, UpstreamSettings]> => {
      if (tls === undefined) return [name, settings]
      const secureContext = await readClientContext(tls)
      return [name, { ...settings, tls: { secureContext, serverName: tls.serverName } }]
    },
  )
  return Object.fromEntries(await Promise.all(entries))
}

async function buildLogin(
  { config, log, now = clock, verifyCredentials, draw = drawCaptcha }: ServeOptions,
  facts: {
    tokens: Tokens
    redis: RedisClient | undefined
    keys: OpenKeys['current']
    figures: Figures
    captchaRequired: boolean
    cookie: TokenCookie
    crossSite: FindCrossSite
  },
  closing: Closing,
) {
  const database = await openDatabase({
    ...config.database,
    directory: config.application.dataDirectory,
    // Callers with a token do not need the database; only login waits for it to come back.
    onAway: (fault) => log.warn({ reason: fault.message }, 'the database is away'),
  })
  closing.add(database.close)
  const passwordHash = createPasswordHash({
    concurrency: config.login.passwordConcurrency,
    queue: config.login.passwordQueue,
  })
  closing.add(passwordHash.close)
  const accounts = createAccounts(database, config.database.statementTimeoutMs + 250)
  const seeded = database.kind === 'embedded' ? await seedAccounts(database, passwordHash.hash) : []
  // A database that is away is no reason to wait: then each cost is learned when it is met.
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
  })
  const throttle = createThrottle({
    counters: buildCounters(redis, log, facts.figures),
    limits: config.login,
    digestKey: createLastingKey(keys, 'throttle'),
  })
  const loginLog = buildLoginLog({ config, log, now }, database, redis)
  closing.add(() => loginLog.close(Math.min(config.shutdown.deadlineMs, longestFlushMs)))

  const login = createLogin({
    throttle,
    checkCaptcha: facts.captchaRequired
      ? ({ uuid, code }) => captchas.check(uuid, code)
      : async () => true,
    verifyCredentials:
      verifyCredentials ?? createPasswordCredentials(accounts.findByUsername, passwordHash),
    issueToken: facts.tokens.issue,
    now,
    record: loginLog.record,
  })
  const answers = createOwnAnswers({
    login: config.logger.required ? onlyRecorded(login, loginLog) : login,
    issueCaptcha: captchas.issue,
    throttle,
    readProfile: accounts.profile,
    record: loginLog.record,
    cookie: facts.cookie,
    crossSite: facts.crossSite,
  })

  return { answers, seeded, database, loginLog }
}

/** Off, it reaches neither the table nor Redis. */
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

function buildCounters(redis: RedisClient | undefined, log: Log, figures: Figures): Counters {
  const local = createMemoryCounters()
  if (redis === undefined) return local
  let isAlone = false
  figures.readGauge(
    {
      name: 'postern_login_counted_alone',
      help: '1 while Redis is away and login attempts are counted by this process alone.',
    },
    () => [{ value: Number(isAlone) }],
  )
  return createRedisCounters({
    redis,
    local,
    onAway(reason) {
      isAlone = reason !== undefined
      if (reason === undefined) log.info('login attempts are counted in Redis again')
      else log.warn({ reason }, 'login attempts are counted by this process alone')
    },
  })
}

async function buildGateway(
  config: Config,
  {
    tokens,
    ended,
    policies,
    answers,
    redis,
    figures,
    tunnels,
    now,
    keys,
    cookie,
    crossSite,
  }: {
    tokens: Tokens
    ended: RevocationFeed
    policies: Parameters<typeof createPipeline>[0]['policies']
    answers: OwnAnswers
    redis: RedisClient | undefined
    figures: Figures
    tunnels: Tunnels
    now: () => number
    keys: OpenKeys['current']
    cookie: TokenCookie
    crossSite: FindCrossSite
  },
  closing: Closing,
) {
  const { header: assertionName, ...signed } = config.identity.assertion
  const injectedNames = [...Object.values(config.headers), assertionName]
  const upstreams = createUpstreams(await upstreamSettings(config))
  closing.add(upstreams.close)
  addUpstreamMetrics(figures, upstreams.all)
  const limits = createRouteLimits({
    addressBlock,
    now: () => now() * 1000,
    share: redis && createRedisTallies(redis),
  })
  closing.add(async () => limits.close())
  const openExchanges = createOpenExchanges(tokens.problemOf, config.revocation.sweepMs)
  closing.add(openExchanges.close)
  const cors = createCors(config.cors)
  const findRoute = createRoutes(config.routes)
  const relayHeaders = createRelayHeaders(injectedNames, { ownCors: cors.isOn })
  const { requestId: requestIdName, ...identityNames } = config.headers
  const identity = createIdentityHeaders(identityNames)
  const assertion = signed.enabled
    ? createAssertionHeader({
        ...signed,
        header: assertionName,
        assert: createAssertions({ ...signed, keys, now }),
      })
    : noAssertion
  const line = {
    readHeaders: createHeaderReader(injectedNames, requestIdName),
    findOrigin: createOriginFinder(config.application.trustedProxies),
    findEndpoint: createOwnEndpoints({ ...config.endpoints, captchaAlias: config.captcha.alias }),
    readPath: createPathReader(config.routes, findRoute),
    findRoute,
    maxTargetBytes: config.limits.targetBytes,
    limits,
    verifyToken: tokens.verify,
    crossSite,
    policies,
    endToken: (token: VerifiedToken) => ended.end(endingOf(token)),
  }
  const pass = createPipeline({
    ...line,
    cors,
    answers,
    openExchanges,
    tunnels,
    upstreams,
    upstreamHeaders: createUpstreamHeaders(identity, requestIdName),
    relayHeaders,
    relayTrailers: createRelayTrailers(injectedNames),
    assertion,
    relayLogoutHeaders: (...answer) => [...relayHeaders(...answer), ...cookie.cleared],
    maxBodyBytes: config.limits.bodyBytes,
    maxStallMs: config.limits.stallTimeoutMs,
  })
  const check = createCheck({
    ...line,
    readOriginal: createOriginalReader(createTrust(config.application.trustedProxies)),
    identity,
    assertion,
    requestIdName,
    identityNames: [...Object.values(identityNames), assertionName],
  })
  return { pass, check }
}
