import { modeFacts } from '../config/mode.ts'
import type { ReplicaFacts } from '../fleet/replica-facts.ts'
import { createCrossSite } from '../gateway/cross-site.ts'
import { createDecisionWatch } from '../gateway/evidence/decision-watch.ts'
import { createTunnels } from '../gateway/exchange/tunnels.ts'
import { createTokenCookie } from '../http/token-cookie.ts'
import { type Closing, openParts } from '../kernel/closing.ts'
import { version } from '../kernel/version.ts'
import { addPropagationMetric } from '../metrics/policy-metrics.ts'
import { createMetricRegistry } from '../metrics/registry.ts'
import { createLivePolicies } from '../policy/live.ts'
import { readTrust } from '../stores/keys/trusted-keys.ts'
import type { Move } from '../stores/policies/document/policy-keys.ts'
import { openPolicySource } from '../stores/policies/open-policy-source.ts'
import { openRedis } from '../stores/redis/redis.ts'
import { findLastingKey } from '../token/derived-keys.ts'
import type { TokenRevocation } from '../token/revocations.ts'
import { userRevocation } from '../token/user-marks.ts'
import { warnOfDescriptors } from '../workers/descriptors.ts'
import { buildTokens } from './build-tokens.ts'
import { openGateway } from './gateway/open-gateway.ts'
import { logMode, logOtherTokens } from './log-mode.ts'
import { buildLogin } from './login/build-login.ts'
import {
  openDecisions,
  openMoveCopies,
  openShadow,
  openTracing,
  openUsage,
} from './open-records.ts'
import { openRevocationFeed } from './open-token-stores.ts'
import { clock, type RunningPostern, type ServeOptions } from './options.ts'
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
  const { config, log, now = clock } = options
  const mode = modeFacts(config.application.mode, config.jwt.timeout)
  if (options.asWorker === undefined) {
    logMode(mode, log)
    logOtherTokens(config, log)
    warnOfDescriptors(config, log)
  }
  const registry = createMetricRegistry()

  // Stores. Tracing comes first and so closes last: no store waits for the export of spans.
  const tracing = await openTracing(
    options,
    registry,
    (address) => gateway.current().isTrustedProxy(address),
    closing,
  )
  const redis = await openRedis(config.redis)
  if (redis !== undefined) closing.add(redis.close)
  const decisionWatch = createDecisionWatch()
  let ownFacts: (() => ReplicaFacts) | undefined
  let recorded: (() => Promise<readonly Move[]>) | undefined
  let digestKey: () => string | undefined = () => undefined
  const shadow = openShadow(config, () => digestKey())
  const trust = config.policy.trust && readTrust(config.policy.trust, '.')
  const following = await openFollower(options, registry, closing)
  const policies = await openPolicySource({
    ...config,
    trust,
    live: createLivePolicies(),
    log,
    version,
    recorded: async () => recorded?.().catch(() => []) ?? [],
    facts: () => ownFacts?.(),
    takeDecisions: decisionWatch.take,
    onPropagated: addPropagationMetric(registry),
    ...(shadow !== undefined && { shadow }),
  })
  closing.add(policies.close)

  // Identity: tokens, login, revocation.
  const { keys, issuers, tokens, ...identified } = await buildTokens(options, mode, closing)
  const { revocations, assertionProblem } = identified
  digestKey = findLastingKey(keys.current, 'decisions')
  const cookie = createTokenCookie({
    ...config.cookie,
    secure: mode.secureCookie,
    lifetimeSeconds: mode.tokenLifetimeSeconds,
  })
  const crossSite = createCrossSite(config.cookie.trustedOrigins)
  const identity = { tokens, keys: keys.current, cookie, crossSite, redis, registry }
  const { captchaRequired, passwordsPrinted } = mode
  const revokeTokensOf = (userId: string) => feed.revokeUser(userRevocation(userId, mode))
  const revokeToken = (revocation: TokenRevocation) => feed.revoke(revocation)
  const revoking = { revokeTokensOf, revokeToken }
  const loginFacts = { ...identity, captchaRequired, passwordsPrinted, ...revoking }
  const login = await buildLogin(options, loginFacts, closing)
  const { database, loginLog } = login
  recorded = openMoveCopies(options, { policies, redis, database, trust }, closing)
  openAudit(options, { database, keys, policies, registry }, closing)
  const feed = await openRevocationFeed(options, { redis, database, revocations }, closing)

  // The request pipeline.
  const tunnels = createTunnels(config.upgrades.idleTimeoutMs)
  const tls = await openTls(options, registry, closing)
  const record = await openDecisions(options, registry, closing)
  const { revision } = policies
  const usage = openUsage(options, { redis, database, revision, registry }, closing)
  const gateway = await openGateway(
    config,
    {
      ...identity,
      log,
      now,
      isDraining: () => ports.isDraining(),
      tracing,
      record,
      watchDecisions: decisionWatch.wrap,
      usage,
      shadow: shadow?.observe,
      tunnels,
      revocations: feed,
      sessions: login.sessions,
      policies: policies.current,
      responsesWith: (current) =>
        login.responsesWith(current, (token) =>
          feed.revokeUser(userRevocation(token.userId, mode), token),
        ),
    },
    closing,
  )

  // The ports.
  const ports = buildPorts(options, { gateway, registry, tracing, tls, tunnels }, closing)
  const ops = buildOps(options, mode, {
    ...ports,
    registry,
    policies,
    following: following?.state,
    shadow,
    clock: watchClock(options, { redis, database, registry }, closing),
    keys,
    issuers,
    assertionProblem,
    revocations: feed,
    loginLog,
    loginDetails: login.details,
    tls,
    upstreams: () => gateway.current().upstreams.all,
  })
  ownFacts = ops.facts
  options.beforeListening?.()
  const opsPort = options.asWorker === undefined ? await openOps(config, ops, closing) : 0
  const { publicPort, forwardAuthPort } = await ports.open()

  return {
    publicPort,
    opsPort,
    forwardAuthPort,
    seeded: login.seeded,
    passwordFile: login.passwordFile,
    unprintedFile: login.unprintedFile,
    revision: policies.revision(),
    ops,
    takeDecisions: async () => [decisionWatch.take()],
    async apply(next) {
      await gateway.apply(next)
      following?.apply(next)
      log.level = next.logger.level
    },
    close: closing.close,
  }
}
