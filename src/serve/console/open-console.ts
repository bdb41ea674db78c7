import { createCallerOrigin } from '../../console/access/caller-origin.ts'
import { addCaptchaRoutes } from '../../console/access/captcha-routes.ts'
import { createSessionCookie } from '../../console/access/cookie.ts'
import { createGuard } from '../../console/access/guard.ts'
import { addLoginRoutes } from '../../console/access/login-routes.ts'
import { addOidcRoutes } from '../../console/access/oidc-routes.ts'
import { createProtectedRoles } from '../../console/access/roles.ts'
import type { RegisterOperations } from '../../console/api/register.ts'
import { createOwnHosts } from '../../console/hosts.ts'
import { addLiveRoutes } from '../../console/live/routes.ts'
import { createStreams } from '../../console/live/streams.ts'
import { Traffic } from '../../console/live/traffic.ts'
import { createErrorReplies } from '../../console/replies.ts'
import { apiPrefix, createConsoleServer } from '../../console/server.ts'
import { createOriginFinder } from '../../gateway/arrival/client-origin.ts'
import { createCrossSite } from '../../gateway/cross-site.ts'
import { listen } from '../../http/port/listen.ts'
import { builtPages, readPages } from '../../kernel/built-pages.ts'
import { type Closing, openParts } from '../../kernel/closing.ts'
import { build } from '../../kernel/version.ts'
import { createMessages } from '../../messages/messages.ts'
import { openCertificate } from '../../stores/keys/certificate-feed.ts'
import { createAssembly } from '../assembly.ts'
import type { ServeOptions } from '../options.ts'
import { type GatewayChannel, openDecisionWatch } from './console-live.ts'
import { isSecure, openConsoleLogin } from './console-login.ts'

interface ConsoleOptions extends Omit<ServeOptions, 'asWorker' | 'configuration'> {
  /** Adds the operations of the management API. Unset: it has none. */
  readonly operations?: RegisterOperations
  /** What gateways report, for the charts. Unset: none. */
  readonly readFleet?: ConstructorParameters<typeof Traffic>[0]['readFleet']
  /** The channel to the gateway that started the console. */
  readonly channel?: GatewayChannel
  /** The directory of the built pages. */
  readonly pages?: string
}

export type RunningConsole = Awaited<ReturnType<typeof start>>

/** Builds the console and listens. A part that fails closes all that were built before it. */
export function openConsole(options: ConsoleOptions): Promise<RunningConsole> {
  return openParts((closing) => start(options, closing))
}

async function start(options: ConsoleOptions, closing: Closing) {
  const { config, log, operations, pages = builtPages } = options
  const settings = config.console
  const { url, write, host } = settings
  // First: without pages nothing else needs to start.
  const files = readPages(pages)
  const asWorker = { number: 0, ticketKeys: Buffer.alloc(0) }
  const login = await openConsoleLogin({ ...options, asWorker }, createAssembly(closing))
  const tls = settings.tls && (await openCertificate({ ...settings.tls, log }))
  if (tls !== undefined) closing.add(tls.close)

  const cookie = createSessionCookie(isSecure(settings), settings.sessionSeconds)
  const guard = createGuard({
    sessions: login.sessions,
    services: login.services,
    cookie,
    crossSite: createCrossSite(url === undefined ? [] : [url]),
    isSecure: isSecure(settings),
  })
  const originOf = createCallerOrigin(createOriginFinder(config.application.trustedProxies))
  const { throttle, captchas, redirects } = login
  const buttons = redirects?.buttons ?? []
  const providers = buttons.map(({ name }) => name)
  const streams = createStreams({ problemOf: guard.problemOf })
  closing.add(async () => streams.close())
  const watchDecisions = await openDecisionWatch(config, options.channel, closing)
  const { readFleet = async () => ({ revision: null, counts: {}, replicas: [] }) } = options
  const traffic = new Traffic({ readFleet })
  traffic.start()
  closing.add(async () => traffic.close())
  const server = createConsoleServer({
    pages: files,
    isOwnHost: createOwnHosts(settings),
    guard,
    replyError: createErrorReplies(createMessages(config.refusals, { origins: [] }), log),
    tls,
    routes: [
      (scope) =>
        addLoginRoutes(scope, {
          ...login,
          ...{ guard, cookie, originOf },
          facts: { mode: login.mode, version: build, write, providers },
        }),
      (scope) => redirects && addOidcRoutes(scope, { ...login, ...redirects, cookie, originOf }),
      (scope) =>
        addCaptchaRoutes(scope, {
          ...{ throttle, captchas, originOf, prefix: apiPrefix, buttons },
          hasPassword: login.hasPassword,
        }),
      (scope) => addLiveRoutes(scope, { guard, streams, traffic, watchDecisions }),
      (scope) =>
        operations?.(scope, {
          ...{ guard, originOf, write },
          protectedRoles: createProtectedRoles(settings.roles),
          onBug: (command, details) => log.error({ command, details }, 'console command failed'),
        }),
    ],
  })
  const port = await listen(server.server, settings, () => server.ready())
  closing.add(() => server.close())
  const scheme = tls === undefined ? 'http' : 'https'
  /** Where browsers find it. */
  const address = `${url ?? `${scheme}://${inUrl(host)}:${port}`}/console/`
  return { port, address, close: closing.close }
}

/** An address on which all listen is no address to go to. */
function inUrl(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1'
  return host.includes(':') ? `[${host}]` : host
}
