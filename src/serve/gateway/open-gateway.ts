import { hostname } from 'node:os'
import { createReturns } from '../../admission/return-addresses.ts'
import { createAdmission } from '../../admission/verdict.ts'
import { accessSettings } from '../../config/access-settings.ts'
import { ownHeaders } from '../../config/identity-headers.ts'
import { modeFacts } from '../../config/mode.ts'
import type { Config } from '../../config/schema/schema.ts'
import type { Arrival } from '../../gateway/arrival/arrival.ts'
import { createHeaderReader } from '../../gateway/arrival/arriving-headers.ts'
import { createOriginFinder } from '../../gateway/arrival/client-origin.ts'
import { createTrust } from '../../gateway/arrival/trusted-peers.ts'
import { combineObservers } from '../../gateway/authorize.ts'
import { createCheck } from '../../gateway/check.ts'
import { createCors } from '../../gateway/cors.ts'
import { createDescription, recordedAdmit } from '../../gateway/evidence/decision-record.ts'
import { createTransferRates } from '../../gateway/exchange/transfer-rates.ts'
import { createAssertionHeader, noAssertion } from '../../gateway/headers/assertion-header.ts'
import { createIdentityHeaders } from '../../gateway/headers/identity-headers.ts'
import { createRelayHeaders } from '../../gateway/headers/relayed-headers.ts'
import { createRelayTrailers } from '../../gateway/headers/relayed-trailers.ts'
import { createUpstreamHeaders } from '../../gateway/headers/upstream-headers.ts'
import { createOriginalReader } from '../../gateway/original-request.ts'
import { admit, createPipeline } from '../../gateway/pipeline.ts'
import { shapeRoutes, stickyCookies } from '../../gateway/route/shape-routes.ts'
import type { UpstreamSettings } from '../../gateway/upstream/upstream.ts'
import { addUpstreamMetrics } from '../../gateway/upstream/upstream-metrics.ts'
import { createUpstreams, type Upstreams } from '../../gateway/upstream/upstreams.ts'
import { refusalEnvelopes, statusEnvelopes } from '../../http/envelope.ts'
import { createPageReplies } from '../../http/error-page.ts'
import { createErrorText } from '../../http/error-text.ts'
import { createCheckPages } from '../../http/forward-auth/check-pages.ts'
import { createForwardAuthHandling } from '../../http/forward-auth/forward-auth-handling.ts'
import { createNameLogin } from '../../http/forward-auth/name-login.ts'
import { createPublicErrorReplies } from '../../http/grpc/error-replies.ts'
import { createErrorResponses } from '../../http/reply-error.ts'
import { build } from '../../kernel/version.ts'
import { addressBlock } from '../../login/address-block.ts'
import { createMessages } from '../../messages/messages.ts'
import { createErrorPages } from '../../page/error-pages.ts'
import { createExplain } from '../../page/explain.ts'
import { languageOf } from '../../page/language.ts'
import { createLoginRedirect } from '../../page/navigation.ts'
import { noTemplates, readTemplates } from '../../page/templates.ts'
import { readResponseFile } from '../../stores/files/response-file.ts'
import { createAssertions } from '../../token/assertions.ts'
import { findLastingKey } from '../../token/derived-keys.ts'
import { revocationOf, type VerifiedToken } from '../../token/tokens.ts'
import type { Assembly } from '../assembly.ts'
import { upstreamFacts } from '../own-facts.ts'
import { noteCallers } from '../records/open-sessions.ts'
import { type GatewayParts, type LastingParts, openLastingParts } from './lasting-parts.ts'

export type OpenGateway = Awaited<ReturnType<typeof openGateway>>

/**
 * The gateway, whose configuration can be replaced while it serves: requests in progress keep theirs.
 * If a file that the new one names cannot be used, the current generation stays.
 */
export async function openGateway(config: Config, parts: GatewayParts, assembly: Assembly) {
  const lasting = openLastingParts(config, parts, assembly)
  let current = await buildGeneration(config, lasting)
  let isClosed = false
  assembly.add({
    metrics: (registry) => addUpstreamMetrics(registry, () => current.upstreams.all),
    facts: () => ({ upstreams: upstreamFacts(current.upstreams.all) }),
    async apply(next) {
      const before = current
      const built = await buildGeneration(next, lasting, before)
      if (isClosed) return built.close()
      current = built
      before.upstreams.retireUnlessIn(current.upstreams)
    },
    async close() {
      isClosed = true
      await current.close()
    },
  })
  return {
    /** What requests that begin now are served by. */
    current: () => current,
  }
}

/**
 * Everything that the reloadable settings of one configuration decide. Keeps of the previous generation
 * what the new settings leave as it is.
 */
async function buildGeneration(
  config: Config,
  lasting: LastingParts,
  previous?: { readonly upstreams: Upstreams },
) {
  const { tokens, revocations, sessions, policies, tunnels, now, keys, cookie, crossSite } = lasting
  const { tracing, record, usage, shadow, log, limits, openExchanges, eventStreams } = lasting
  const { header: assertionName, ...signed } = config.identity.assertion
  const injectedNames = ownHeaders(config).map(({ name }) => name)
  // First: it fails if a file of a response cannot be read.
  const routes = await shapeRoutes(config.routes, {
    read: readResponseFile,
    sticky: {
      key: findLastingKey(keys, 'sticky'),
      secure: modeFacts(config.application.mode, 0).secureCookie,
    },
  })
  const { contact, directory } = config.pages
  const templates = directory === undefined ? undefined : await readTemplates(directory)
  const upstreams = createUpstreams(
    await upstreamSettings(config, lasting),
    {
      failed: (lookup, { message }) =>
        log.warn({ ...lookup, reason: message }, 'upstream name lookup failed'),
      recovered: (lookup) => log.info(lookup, 'upstream name lookup recovered'),
      ejected: (ejection) => log.warn(ejection, 'upstream target ejected'),
    },
    previous?.upstreams,
  )
  const rates = createTransferRates(config.limits)
  const messages = createMessages(config.refusals, config.cors)
  const isTrustedProxy = createTrust(config.application.trustedProxies)
  const cors = createCors(config.cors)
  const relayHeaders = createRelayHeaders(injectedNames, { ownCors: cors.isOn })
  const { requestId: requestIdName } = config.headers
  const identity = createIdentityHeaders(config.headers)
  const assertion = signed.enabled
    ? createAssertionHeader({
        ...signed,
        header: assertionName,
        assert: createAssertions({ ...signed, keys, now }),
      })
    : noAssertion
  const describe = createDescription({
    ...config.logger.decisions,
    digestKey: findLastingKey(keys, 'decisions'),
    labels: { pod: hostname(), version: build },
    now,
  })
  const shared = {
    readHeaders: createHeaderReader(injectedNames, requestIdName),
    findOrigin: createOriginFinder(config.application.trustedProxies),
    ...createAdmission({ ...accessSettings(config), routes }),
    limits,
    verifyToken: tokens.verify,
    isOwnToken: tokens.isOwn,
    crossSite,
    cookieName: cookie.name,
    policies,
    observe: combineObservers(usage?.observe, shadow),
    onIdentified: noteCallers(sessions, usage?.onIdentified),
    revokeToken(token: VerifiedToken) {
      if (token.kind === 'user') sessions.ended(token)
      return revocations.revoke(revocationOf(token))
    },
    admit: lasting.watchDecisions(
      record === undefined ? admit : recordedAdmit(admit, describe, record),
      describe,
    ),
  }
  const pass = createPipeline({
    ...shared,
    cors,
    responses: lasting.responsesWith({ ...config, messages }),
    openExchanges,
    tunnels,
    eventStreams,
    upstreams,
    upstreamHeaders: createUpstreamHeaders(identity, requestIdName, stickyCookies(routes)),
    relayHeaders,
    upstreamOrigins: new Map(
      Object.entries(config.upstreams).map(([name, { targets }]) => [
        name,
        new Set(targets.map((target) => originOf(target))),
      ]),
    ),
    relayTrailersOf: createRelayTrailers(injectedNames),
    assertion,
    departTrace: tracing?.depart ?? (() => []),
    relayLogoutHeaders: (...answer) => [...relayHeaders(...answer), ...cookie.cleared],
    bodies: {
      maxBytes: config.limits.bodyBytes,
      rates,
      memory: lasting.bodyMemory,
    },
    addressBlock,
    unread: {
      maxStallMs: config.limits.stallTimeoutMs,
      busyStallMs: config.limits.busyStallTimeoutMs,
    },
  })
  const readOriginal = createOriginalReader(isTrustedProxy)
  const check = createCheck({
    ...shared,
    readOriginal,
    identity,
    assertion,
    requestIdName,
    identityNames: injectedNames.filter((name) => name !== requestIdName),
  })
  const { stallTimeoutMs } = config.limits
  const { page } = config.login
  const returns = createReturns(page)
  const replyError = createPublicErrorReplies(
    createErrorResponses(refusalEnvelopes(config.refusals), messages),
  )
  const errorPages = createErrorPages({
    contact,
    templateOf: templates?.find ?? noTemplates,
    settings: { path: page.path, returns, language: languageOf(config.refusals.language) },
    hasLogo: page.logo !== undefined,
    hasLogout: config.endpoints.logout === 'gateway',
    explain: createExplain(createErrorText(statusEnvelopes, messages)),
  })
  const hostOf = (arrival: Arrival) =>
    shared.findOrigin(arrival, shared.readHeaders(arrival.rawHeaders, arrival.httpVersion)).host
  const redirectOf = page.enabled
    ? createLoginRedirect({ ...page, url: page.url, returns, hostOf })
    : undefined
  return {
    /** Of the public port. */
    requests: {
      pass,
      mark: cors.mark,
      messages,
      replyError: page.enabled ? createPageReplies(errorPages, replyError) : replyError,
      redirectOf,
      stallTimeoutMs,
    },
    forwardAuth: createForwardAuthHandling({
      check,
      isTrusted: isTrustedProxy,
      nameLogin: createNameLogin({ ...shared, readOriginal, loginOf: redirectOf }),
      findPage: page.enabled ? createCheckPages(errorPages, readOriginal) : () => undefined,
      isReady: () => !lasting.isDraining() && hasPolicy(policies),
      messages,
      stallTimeoutMs,
    }),
    isTrustedProxy,
    upstreams,
    async close() {
      await upstreams.close()
      rates.close()
    },
  }
}

function hasPolicy(policies: LastingParts['policies']): boolean {
  try {
    policies()
    return true
  } catch {
    return false
  }
}

/** Every upstream with its TLS files loaded. */
async function upstreamSettings(
  config: Config,
  { readContext }: LastingParts,
): Promise<Record<string, UpstreamSettings>> {
  const entries = Object.entries(config.upstreams).map(
    async ([name, { tls, breaker, ...rest }]): Promise<[string, UpstreamSettings]> => {
      const settings = { ...rest, breaker: typeof breaker === 'object' ? breaker : undefined }
      if (tls === undefined) return [name, settings]
      const secureContext = await readContext(tls)
      return [name, { ...settings, tls: { secureContext, serverName: tls.serverName } }]
    },
  )
  return Object.fromEntries(await Promise.all(entries))
}

function originOf(target: Config['upstreams'][string]['targets'][number]): string {
  return new URL(typeof target === 'string' ? target : target.url).origin
}
