import { hostname } from 'node:os'
import { createAdmission } from '../../admission/verdict.ts'
import type { Closing } from '../../closing.ts'
import type { Config } from '../../config/schema/schema.ts'
import { createHeaderReader } from '../../gateway/arrival/arriving-headers.ts'
import { createOriginFinder } from '../../gateway/arrival/client-origin.ts'
import { createTrust } from '../../gateway/arrival/trusted-peers.ts'
import { combineObservers } from '../../gateway/authorize.ts'
import { createCheck } from '../../gateway/check.ts'
import { createCors } from '../../gateway/cors.ts'
import type { FindCrossSite } from '../../gateway/cross-site.ts'
import { recordedAdmit } from '../../gateway/decision-record.ts'
import { createBodyMemory } from '../../gateway/exchange/body-memory.ts'
import { createEventStreams } from '../../gateway/exchange/event-streams.ts'
import { createOpenExchanges } from '../../gateway/exchange/open-exchanges.ts'
import { createStillAllowed } from '../../gateway/exchange/still-allowed.ts'
import { createTransferRates } from '../../gateway/exchange/transfer-rates.ts'
import type { Tunnels } from '../../gateway/exchange/tunnels.ts'
import { createAssertionHeader, noAssertion } from '../../gateway/headers/assertion-header.ts'
import { createIdentityHeaders } from '../../gateway/headers/identity-headers.ts'
import { createRelayHeaders } from '../../gateway/headers/relayed-headers.ts'
import { createRelayTrailers } from '../../gateway/headers/relayed-trailers.ts'
import { createUpstreamHeaders } from '../../gateway/headers/upstream-headers.ts'
import { createOriginalReader } from '../../gateway/original-request.ts'
import {
  type AdmitParts,
  admit,
  createPipeline,
  type OwnResponses,
} from '../../gateway/pipeline.ts'
import { createRouteLimits } from '../../gateway/route/route-limits.ts'
import { shapeRoutes } from '../../gateway/route/shape-routes.ts'
import type { UpstreamSettings } from '../../gateway/upstream/upstream.ts'
import { createUpstreams } from '../../gateway/upstream/upstreams.ts'
import type { TokenCookie } from '../../http/token-cookie.ts'
import type { Log, WriteDecision } from '../../log/log.ts'
import { addressBlock } from '../../login/address-block.ts'
import type { MetricRegistry } from '../../metrics/registry.ts'
import { addUpstreamMetrics } from '../../metrics/upstream-metrics.ts'
import type { OpenKeys } from '../../stores/keys/key-feed.ts'
import { readClientContext } from '../../stores/keys/pem-files.ts'
import { createRedisSharedCounters } from '../../stores/limits/redis-shared-counters.ts'
import type { RedisClient } from '../../stores/redis/redis.ts'
import type { RevocationFeed } from '../../stores/revocations/revocation-feed.ts'
import type { SessionRecorder } from '../../stores/sessions/session-recorder.ts'
import { createAssertions } from '../../token/assertions.ts'
import { findLastingKey } from '../../token/derived-keys.ts'
import { revocationOf, type Tokens, type VerifiedToken } from '../../token/tokens.ts'
import type { Tracing } from '../../tracing/tracing.ts'
import { version } from '../../version.ts'
import { noteCallers } from '../records/open-sessions.ts'

/** The request pipeline, and the check for forward-auth requests. */
export async function buildGateway(
  config: Config,
  {
    tokens,
    revocations,
    sessions,
    policies,
    responses,
    redis,
    registry,
    tunnels,
    now,
    keys,
    cookie,
    crossSite,
    tracing,
    record,
    usage,
    shadow,
    log,
  }: {
    tokens: Tokens
    revocations: RevocationFeed
    sessions: SessionRecorder
    policies: Parameters<typeof createPipeline>[0]['policies']
    responses: OwnResponses
    redis: RedisClient | undefined
    registry: MetricRegistry
    tunnels: Tunnels
    now: () => number
    keys: OpenKeys['current']
    cookie: TokenCookie
    crossSite: FindCrossSite
    tracing: Tracing | undefined
    record: WriteDecision | undefined
    usage: Pick<AdmitParts, 'observe' | 'onIdentified'> | undefined
    shadow: AdmitParts['observe']
    log: Log
  },
  closing: Closing,
) {
  const { header: assertionName, ...signed } = config.identity.assertion
  const injectedNames = [...Object.values(config.headers), assertionName]
  const upstreams = createUpstreams(await upstreamSettings(config), {
    failed: (lookup, { message }) =>
      log.warn({ ...lookup, reason: message }, 'upstream name lookup failed'),
    recovered: (lookup) => log.info(lookup, 'upstream name lookup recovered'),
  })
  closing.add(upstreams.close)
  addUpstreamMetrics(registry, upstreams.all)
  const limits = createRouteLimits({
    addressBlock,
    now: () => now() * 1000,
    share: redis && createRedisSharedCounters(redis),
  })
  closing.add(async () => limits.close())
  const stillAllowed = createStillAllowed({ problemOf: tokens.problemOf, policies })
  const openExchanges = createOpenExchanges(stillAllowed, config.revocation.sweepMs)
  closing.add(openExchanges.close)
  const rates = createTransferRates(config.limits)
  closing.add(async () => rates.close())
  const eventStreams = createEventStreams()
  registry.readGauge(
    {
      name: 'postern_open_streams',
      aggregate: 'sum',
      help: 'Open upgraded connections and event streams.',
      labels: ['kind'],
    },
    () => [
      { value: tunnels.count(), labels: { kind: 'upgrade' } },
      { value: eventStreams.count(), labels: { kind: 'events' } },
    ],
  )
  const cors = createCors(config.cors)
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
  const shared = {
    readHeaders: createHeaderReader(injectedNames, requestIdName),
    findOrigin: createOriginFinder(config.application.trustedProxies),
    ...createAdmission({
      routes: shapeRoutes(config.routes),
      endpoints: {
        ...config.endpoints,
        captchaAlias: config.captcha.alias,
        oidc: config.login.oidc,
        page: config.login.page,
      },
      maxTargetBytes: config.limits.targetBytes,
    }),
    limits,
    verifyToken: tokens.verify,
    crossSite,
    policies,
    observe: combineObservers(usage?.observe, shadow),
    onIdentified: noteCallers(sessions, usage?.onIdentified),
    revokeToken(token: VerifiedToken) {
      if (token.kind === 'user') sessions.ended(token)
      return revocations.revoke(revocationOf(token))
    },
    admit:
      record === undefined
        ? admit
        : recordedAdmit(admit, {
            ...config.logger.decisions,
            digestKey: findLastingKey(keys, 'decisions'),
            labels: { pod: hostname(), version },
            now,
            write: record,
          }),
  }
  const pass = createPipeline({
    ...shared,
    cors,
    responses,
    openExchanges,
    tunnels,
    eventStreams,
    upstreams,
    upstreamHeaders: createUpstreamHeaders(identity, requestIdName),
    relayHeaders,
    relayTrailers: createRelayTrailers(injectedNames),
    assertion,
    departTrace: tracing?.depart ?? (() => []),
    relayLogoutHeaders: (...answer) => [...relayHeaders(...answer), ...cookie.cleared],
    bodies: {
      maxBytes: config.limits.bodyBytes,
      rates,
      memory: createBodyMemory(maxBodyMemory),
    },
    addressBlock,
    unread: {
      maxStallMs: config.limits.stallTimeoutMs,
      busyStallMs: config.limits.busyStallTimeoutMs,
    },
  })
  const check = createCheck({
    ...shared,
    readOriginal: createOriginalReader(createTrust(config.application.trustedProxies)),
    identity,
    assertion,
    requestIdName,
    identityNames: [...Object.values(identityNames), assertionName],
  })
  return { pass, check, mark: cors.mark, upstreams: () => upstreams.all }
}

/** Body starts that wait for a connection; beyond this, requests take a connection at once. */
const maxBodyMemory = 33_554_432

/** Every upstream with its TLS files loaded. */
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
