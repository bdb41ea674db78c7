import { modeFacts } from '../config/mode.ts'
import { createCrossSite } from '../gateway/cross-site.ts'
import { createDecisionWatch } from '../gateway/evidence/decision-watch.ts'
import { createTunnels } from '../gateway/exchange/tunnels.ts'
import { createTokenCookie } from '../http/token-cookie.ts'
import { type Closing, openParts } from '../kernel/closing.ts'
import { build } from '../kernel/version.ts'
import { addConfigMetrics } from '../metrics/config-metrics.ts'
import { addLogMetrics, addModeInfo } from '../metrics/gateway-metrics.ts'
import type { Move } from '../stores/policies/document/policy-keys.ts'
import { openRedis } from '../stores/redis/redis.ts'
import { findLastingKey } from '../token/derived-keys.ts'
import { userRevocation } from '../token/user-marks.ts'
import { warnOfDescriptors } from '../workers/descriptors.ts'
import { createAssembly } from './assembly.ts'
import { buildTokens } from './build-tokens.ts'
import { openGateway } from './gateway/open-gateway.ts'
import { logMode, logOtherTokens } from './log-mode.ts'
import { buildLogin } from './login/build-login.ts'
import { openDatabase } from './open-database.ts'
import { openPolicies } from './open-policies.ts'
import { openDecisions, openMoveCopies, openTracing, openUsage } from './open-records.ts'
import { openRevocationFeed } from './open-token-stores.ts'
import { clock, type RunningPostern, type ServeOptions } from './options.ts'
import { configurationFacts, createOwnFacts } from './own-facts.ts'
import { buildOps } from './ports/build-ops.ts'
import { buildPorts, openTls } from './ports/build-ports.ts'
import { openOps } from './ports/open-ops.ts'
import { openAudit } from './records/open-audit.ts'
import { openFollower } from './records/open-follower.ts'
import { watchClock } from './records/watch-clock.ts'

/** Builds every part, in order, and listens. A part that fails closes all that were built before it. */
export async function serve(options: ServeOptions): Promise<RunningPostern> {
  return openParts((closing) => start(options, closing))
}

async function start(options: ServeOptions, closing: Closing): Promise<RunningPostern> {
  const { config, log, now = clock, configuration } = options
  const mode = modeFacts(config.application.mode, config.jwt.timeout)
  if (options.asWorker === undefined) {
    logMode(mode, log)
    logOtherTokens(config, log)
    warnOfDescriptors(config, log)
  }
  const assembly = createAssembly(closing)
  assembly.add({
    metrics(registry) {
      addModeInfo(registry, { mode: mode.name, version: build })
      addLogMetrics(registry, log.dropped)
    },
    apply(next) {
      log.level = next.logger.level
    },
  })
  if (configuration !== undefined) {
    assembly.add({
      metrics: (registry) => addConfigMetrics(registry, configuration),
      details: { configuration },
      facts: () => ({ configuration: configurationFacts(configuration()) }),
    })
  }
  const facts = createOwnFacts(options, mode.name, assembly)

  // Stores. Tracing comes first and so closes last: no store waits for the export of spans.
  const tracing = await openTracing(options, assembly)
  const redis = await openRedis(config.redis)
  if (redis !== undefined) assembly.add({ close: redis.close })
  const { keys, tokens, revocations, claims } = await buildTokens(options, mode, assembly)
  await openFollower(options, assembly)
  const decisionWatch = createDecisionWatch()
  let recorded: (() => Promise<readonly Move[]>) | undefined
  const { policies, shadow, trust } = await openPolicies(
    options,
    {
      digestKey: findLastingKey(keys.current, 'decisions'),
      // The gateway starts with its policy while the database is unreachable.
      recorded: async () => recorded?.().catch(() => []) ?? [],
      facts,
      takeDecisions: decisionWatch.take,
    },
    assembly,
  )
  const database = await openDatabase(options, assembly)
  const feed = await openRevocationFeed(options, { redis, database, revocations }, assembly)

  // Login.
  const cookie = createTokenCookie({
    ...config.cookie,
    secure: mode.secureCookie,
    lifetimeSeconds: mode.tokenLifetimeSeconds,
  })
  const crossSite = createCrossSite(config.cookie.trustedOrigins)
  const identity = { tokens, keys: keys.current, cookie, crossSite, redis }
  const { captchaRequired, passwordsPrinted } = mode
  const login = await buildLogin(
    options,
    {
      ...{ ...identity, claims, database, captchaRequired, passwordsPrinted },
      revokeTokensOf: (userId) => feed.revokeUser(userRevocation(userId, mode)),
      revokeOthers: (token) => feed.revokeUser(userRevocation(token.userId, mode), token),
      revokeToken: feed.revoke,
    },
    assembly,
  )
  recorded = openMoveCopies(options, { policies, redis, database, trust }, assembly)
  openAudit(options, { database, keys, policies }, assembly)

  // The request pipeline.
  const tunnels = createTunnels(config.upgrades.idleTimeoutMs)
  const tls = await openTls(options, assembly)
  const record = await openDecisions(options, assembly)
  const { revision } = policies
  const usage = openUsage(options, { redis, database, revision }, assembly)
  const gateway = await openGateway(
    config,
    {
      ...{ ...identity, log, now, tracing, record, usage, tunnels },
      isDraining: () => ports.isDraining(),
      watchDecisions: decisionWatch.wrap,
      shadow: shadow?.observe,
      revocations: feed,
      sessions: login.sessions,
      policies: policies.current,
      responsesWith: login.responsesWith,
    },
    assembly,
  )

  // The ports.
  const ports = buildPorts(options, { gateway, tracing, tls, tunnels }, assembly)
  watchClock(options, { redis, database }, assembly)
  const upstreams = () => gateway.current().upstreams.all
  const ops = buildOps(mode.name, assembly, { policies, keys, upstreams, facts })
  options.beforeListening?.()
  const opsPort = options.asWorker === undefined ? await openOps(config, ops, closing) : 0
  const { publicPort, forwardAuthPort } = await ports.open()

  return {
    ...{ publicPort, opsPort, forwardAuthPort, ops },
    firstAccounts: login.firstAccounts,
    revision: revision(),
    takeDecisions: async () => [decisionWatch.take()],
    apply: assembly.apply,
    close: closing.close,
  }
}
