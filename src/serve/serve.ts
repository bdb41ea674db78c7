import { type Closing, createClosing } from '../closing.ts'
import { secretWeakness } from '../config/checks/secret-strength.ts'
import { longestLifetime, modeFacts } from '../config/mode.ts'
import type { Config } from '../config/schema/schema.ts'
import { Invalid } from '../errors.ts'
import { createCrossSite } from '../gateway/cross-site.ts'
import { createTunnels } from '../gateway/exchange/tunnels.ts'
import { outcomes } from '../http/ended-request.ts'
import { refusalEnvelopes } from '../http/envelope.ts'
import { createForwardAuthServer } from '../http/forward-auth-server.ts'
import { createDrain } from '../http/port/drain.ts'
import { createListeners } from '../http/port/listeners.ts'
import { createOverload } from '../http/port/overload.ts'
import { createPublicServer } from '../http/public-server.ts'
import { createReadiness } from '../http/readiness.ts'
import { createTokenCookie } from '../http/token-cookie.ts'
import { addCertificateMetrics } from '../metrics/certificate-metrics.ts'
import { addKeyMetrics } from '../metrics/key-metrics.ts'
import { addLogMetrics } from '../metrics/log-metrics.ts'
import { addLoginLogMetrics } from '../metrics/login-log-metrics.ts'
import { addOverloadMetrics } from '../metrics/overload-metrics.ts'
import { addPolicyMetrics, addPropagationMetric } from '../metrics/policy-metrics.ts'
import { createMetricRegistry, type MetricRegistry } from '../metrics/registry.ts'
import { createRequestMetrics } from '../metrics/request-metrics.ts'
import { addRevocationMetrics } from '../metrics/revocation-metrics.ts'
import { createLivePolicies } from '../policy/live.ts'
import { openCertificate } from '../stores/keys/certificate-feed.ts'
import { type OpenKeys, openKeys } from '../stores/keys/key-feed.ts'
import { sharedSecret } from '../stores/keys/shared-secret.ts'
import { type OpenPolicySource, openPolicySource } from '../stores/policies/open-policy-source.ts'
import { openRedis } from '../stores/redis/open-redis.ts'
import { openRevocations } from '../stores/revocations/open-revocations.ts'
import { assertionSigner } from '../token/assertions.ts'
import { publicJwks } from '../token/key-set.ts'
import { createRevocations } from '../token/revocations.ts'
import { createTokens } from '../token/tokens.ts'
import { version } from '../version.ts'
import { buildGateway } from './build-gateway.ts'
import { buildLogin } from './build-login.ts'
import { createClientPorts } from './client-ports.ts'
import { clock } from './clock.ts'
import { warnOfDescriptors } from './descriptors.ts'
import { drainOptions, drainTimes, listenerSettings } from './draining.ts'
import { logMode } from './log-mode.ts'
import { openForwardAuth } from './open-forward-auth.ts'
import { openOps } from './open-ops.ts'
import { openDecisions, openTracing } from './open-records.ts'
import type { RunningPostern, ServeOptions } from './options.ts'
import { revocationPlace } from './revocation-place.ts'

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
  if (options.asWorker === undefined) {
    logMode(mode, log)
    warnOfDescriptors(config, log)
  }

  // First, so that it ends last: no store is to wait until somebody has taken the spans.
  const tracing = openTracing(config, closing)
  const registry = createMetricRegistry()
  const redis = await openRedis(config.redis)
  if (redis !== undefined) closing.add(redis.close)
  const policies = await openPolicySource({
    ...config,
    live: createLivePolicies(),
    log,
    version,
    onPropagated: addPropagationMetric(registry),
  })
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
    maxLifetimeSeconds: longestLifetime(mode, config.jwt),
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
  const facts = { tokens, redis, keys: keys.current, registry, captchaRequired, cookie, crossSite }
  const login = await buildLogin(options, facts, closing)
  const ended = await openRevocations({
    redis,
    redisSettings: config.redis,
    database: login.database,
    ...config.revocation,
    snapshot: revocationPlace(options),
    revocations,
    log,
    now: () => now() * 1000,
  })
  closing.add(ended.close)
  const tunnels = createTunnels(config.upgrades.idleTimeoutMs)
  const tls = await buildTls(options, registry, closing)
  const record = await openDecisions(options, registry, closing)
  const { pass, check, mark } = await buildGateway(
    config,
    {
      log,
      tracing,
      record,
      tokens,
      ended,
      policies: policies.current,
      answers: login.answers,
      redis,
      registry,
      tunnels,
      now,
      keys: keys.current,
      cookie,
      crossSite,
    },
    closing,
  )
  const overload = createOverload(config.overload, log)
  closing.add(async () => overload.close())
  const metrics = createRequestMetrics(registry, {
    outcomes,
    limitedRoutes: config.routes.filter(({ limit }) => limit !== undefined).map(({ path }) => path),
    upstreams: Object.keys(config.upstreams),
  })
  const { faults, clients, proxies } = createClientPorts(options, registry)
  const { plainRequests } = config.application
  const rim = { log, metrics, overload, tracing, limits: config.limits, faults, plainRequests }
  const publicServer = createPublicServer({
    ...rim,
    clients,
    pass,
    mark,
    refusals: refusalEnvelopes(config.refusals.notPermittedCode),
    upgrades: config.upgrades.protocols,
    tls,
  })
  addMetrics(registry, mode.name, policies)
  addLogMetrics(registry, log.dropped)
  addOverloadMetrics(registry, overload.share)
  addRevocationMetrics(registry, ended.state)
  if (config.logger.enableddb) addLoginLogMetrics(registry, login.loginLog.state)
  addKeyMetrics(registry, keys.state)
  const listeners = createListeners(publicServer, clients, listenerSettings(options))
  const drain = createDrain(publicServer, listeners, drainTimes(config), {
    ...drainOptions(options),
    closeTunnels: () => tunnels.closeAll(1001),
  })
  const ops = {
    version,
    mode: mode.name,
    readiness: createReadiness({
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
    }),
    metrics: registry,
    publicKeys: () => publicJwks(keys.current()),
  }
  options.beforeListening?.()
  const opsPort = options.asWorker === undefined ? await openOps(config, ops, closing) : 0
  const asked = await openForwardAuth(options, proxies, () =>
    createForwardAuthServer({ ...rim, clients: proxies, check }),
  )
  closing.add(asked.close)
  const publicPort = await listeners.open(config.application)
  // At the same time: whoever asks there is to notice as early as whoever calls here.
  closing.add(() => Promise.all([drain.close(), asked.close()]))

  return {
    publicPort,
    opsPort,
    forwardAuthPort: asked.port,
    seeded: login.seeded,
    revision: policies.revision(),
    ops,
    close: closing.close,
  }
}

function addMetrics(registry: MetricRegistry, mode: string, policies: OpenPolicySource): void {
  addPolicyMetrics(registry, policies.state)
  registry.readGauge(
    {
      name: 'postern_mode_info',
      help: 'Always 1; the labels give application mode and version.',
      labels: ['mode', 'version'],
      aggregate: 'max',
    },
    () => [{ value: 1, labels: { mode, version } }],
  )
}

async function buildKeys({ config, log }: ServeOptions, weakAllowed: boolean): Promise<OpenKeys> {
  const { dataDirectory } = config.application
  const secret = await sharedSecret(config.jwt, { dataDirectory, weakAllowed })
  return openKeys({ directory: config.jwt.keyDirectory, secret, secretWeakness, log })
}

/** Upstreams that expect an assertion would refuse every call without one. */
function assertionProblem({ identity }: Config, keys: OpenKeys): string | undefined {
  if (!identity.assertion.enabled || assertionSigner(keys.current()) !== undefined) return undefined
  return 'identity.assertion requires one private key that is not a shared secret, or one named to sign'
}

/** The certificate of the public port, if it has one. */
async function buildTls(
  { config, log, asWorker }: ServeOptions,
  registry: MetricRegistry,
  closing: Closing,
) {
  if (config.tls === undefined) return undefined
  const certificate = await openCertificate({ ...config.tls, log })
  closing.add(certificate.close)
  const failed = addCertificateMetrics(registry, certificate.state)
  return { ...certificate, minVersion: config.tls.minVersion, failed, ...asWorker }
}
