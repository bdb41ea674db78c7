import { isMysqlUrl, readDatabaseUrl } from '../../kernel/database-url.ts'
import { readMysqlUrl } from '../../kernel/mysql-url.ts'
import { MASK, quote } from '../../kernel/quote.ts'
import { foldName, isReservedHeader, metadataName } from '../../kernel/reserved-headers.ts'
import { carriedClaims, ownHeaders } from '../identity-headers.ts'
import { modeFacts } from '../mode.ts'
import type { Report } from '../reading/report.ts'
import type { Draft } from '../schema/schema.ts'
import { checkConsole } from './console.ts'
import { checkCookie } from './cookie.ts'
import { checkCors } from './forwarding/cors.ts'
import { checkForwardAuth, checkProxies } from './forwarding/proxies.ts'
import { checkRouteOverlaps } from './forwarding/route-overlaps.ts'
import { checkEndpoints, checkRoutes } from './forwarding/routes.ts'
import { checkUpstreams } from './forwarding/upstreams.ts'
import { checkHosts } from './hosts.ts'
import { checkIssuers } from './issuers.ts'
import { checkListeners, listenersOf } from './listeners.ts'
import { checkLoginMethods, checkLoginPage } from './login.ts'
import { checkPolicySource } from './policy-source.ts'
import { checkRefusals } from './refusals.ts'
import { secretWeakness } from './secret-strength.ts'
import { missingSharedStores } from './shared-stores.ts'

// An identity header with one of these names would be dropped, or would change how the message is
// parsed.
const RESERVED =
  /^(host|connection|keep-alive|te|trailer|transfer-encoding|upgrade|expect|date|origin|referer|user-agent|via|authorization|cookie|set-cookie|forwarded|traceparent|tracestate|(content|proxy|x-forwarded|sec|if)-.*)$/

/** Checks the rules that involve more than one setting, and those that no pattern can express. */
export function crossCheck(draft: Draft, report: Report): void {
  checkSecret(draft, report)
  checkLifetime(draft, report)
  checkIssuers(draft, report)
  checkCookie(draft, report)
  checkDatabase(draft, report)
  checkWorkers(draft, report)
  checkLoginLog(draft, report)
  checkLoginMethods(draft, report)
  checkPolicySource(draft, report)
  checkPorts(draft, report)
  checkProxies(draft, report)
  checkForwardAuth(draft, report)
  checkConsole(draft, report)
  checkCors(draft, report)
  checkUpgrades(draft, report)
  checkHeaders(draft, report)
  checkClaimBytes(draft, report)
  checkAssertion(draft, report)
  checkAlphabet(draft, report)
  checkOrder(draft, report)
  checkUpstreams(draft, report)
  checkListeners(draft, report)
  checkRoutes(draft, report)
  checkRouteOverlaps(draft, report)
  checkHosts(draft, report)
  checkEndpoints(draft, report)
  checkRefusals(draft, report)
  checkLoginPage(draft, report)
  checkTracing(draft, report)
}

function checkSecret({ application, jwt }: Draft, report: Report): void {
  const at = 'jwt.secret'
  if (report.hasProblem(at)) return
  const secret = jwt?.secret
  const cure = 'set POSTERN_JWT__SECRET or POSTERN_JWT__SECRET_FILE to at least 32 random bytes'

  if (secret === MASK) {
    report.problem(at, ` is the mask of "config print", not a secret: ${cure}`)
    return
  }
  if (modeFacts(application?.mode, 0).weakSecretAllowed) return
  if (secret === undefined) {
    if (jwt?.keyDirectory !== undefined || report.hasProblem('jwt.keyDirectory')) return
    report.problem(at, ` is required: ${cure}`)
    return
  }
  const weakness = secretWeakness(secret)
  if (weakness !== undefined) report.problem(at, ` ${weakness}: ${cure}`)
}

function checkLifetime({ jwt }: Draft, report: Report): void {
  const at = 'jwt.maxLifetimeSeconds'
  const { maxLifetimeSeconds, timeout } = jwt ?? {}
  if (maxLifetimeSeconds === undefined || timeout === undefined || report.hasProblem(at)) return
  if (maxLifetimeSeconds >= timeout || report.hasProblem('jwt.timeout')) return
  report.problem(
    at,
    `: ${maxLifetimeSeconds} is less than jwt.timeout (${timeout}), so every issued token would be rejected; use at least ${timeout}`,
  )
}

function checkDatabase({ database }: Draft, report: Report): void {
  const url = database?.url
  if (url === undefined) return
  const read = isMysqlUrl(url) ? readMysqlUrl(url) : readDatabaseUrl(url)
  if (typeof read === 'string') report.problem('database.url', ` ${read}`)
}

function checkWorkers(draft: Draft, report: Report): void {
  const at = 'application.workers'
  const workers = draft.application?.workers
  const missing = missingSharedStores(draft).filter((name) => !report.hasProblem(name))
  if (typeof workers !== 'number' || workers === 1 || missing.length === 0) return
  report.problem(
    at,
    ` is ${workers}, so ${missing.join(' and ')} ${missing.length > 1 ? 'are' : 'is'} required: workers share accounts, captchas, limits and logouts (docs/workers.md)`,
  )
}

function checkLoginLog({ logger }: Draft, report: Report): void {
  if (logger?.required !== true || logger.enableddb !== false) return
  report.problem('logger.required', ' is true, so logger.enableddb must be true')
}

function checkPorts(draft: Draft, report: Report): void {
  const listeners = listenersOf(draft).map(({ name, port }) => ({ at: `${name}.port`, port }))
  for (const [index, { at, port }] of listeners.entries()) {
    // With 0 the system assigns a free port.
    const other = port ? listeners.slice(0, index).find((one) => one.port === port) : undefined
    if (other === undefined || report.hasProblem(at) || report.hasProblem(other.at)) continue
    report.problem(at, `: ${port} is already used by ${other.at}; use another port`)
  }
}

function checkUpgrades({ upgrades }: Draft, report: Report): void {
  // After one checked request, a client could send any others on the same connection.
  report.checkEach('upgrades.protocols', upgrades?.protocols, (protocol) =>
    /^(?:h2c$|http\/|tls\/)/.test(protocol)
      ? `${quote(protocol)} would carry requests past every check; remove it`
      : undefined,
  )
}

function checkHeaders(draft: Draft, report: Report): void {
  const owners = new Map<string, string>()
  for (const { setting, name } of ownHeaders(draft)) {
    // CGI and WSGI turn headers into variables, in which - and _ are the same.
    const folded = foldName(name.toLowerCase())
    // gRPC services would find both under one name.
    const key = metadataName(folded)
    const owner = owners.get(key)
    const isClaim = setting.startsWith('headers.claims.')
    const isReserved =
      RESERVED.test(folded) || (isClaim && isReservedHeader(folded, 'request', new Set()))
    if (owner !== undefined) {
      report.problem(setting, `: ${quote(name)} is the same header as ${owner}; use another name`)
    } else if (isReserved && setting !== 'headers.preset') {
      report.problem(setting, `: ${quote(name)} is a reserved header; use another name`)
    }
    owners.set(key, owner ?? setting)
  }
}

/** All but the claims of a token of ours, at most: names, roles, and a signature of RSA with 4096 bits. */
const tokenBytesBesideClaims = 1365

/** A login is useless if its token is accepted nowhere, or if browsers drop its cookie (RFC 6265bis 5.6). */
function checkClaimBytes(draft: Draft, report: Report): void {
  const { headers, jwt, cookie } = draft
  const { claimBytes = 0 } = headers ?? {}
  const longest = Math.min(
    jwt?.maxTokenBytes ?? 4096,
    cookie?.set ? 4096 : Number.POSITIVE_INFINITY,
  )
  const most = Math.floor(((longest - tokenBytesBesideClaims) * 3) / 4)
  if (claimBytes <= most || carriedClaims(draft).length === 0) return
  const limit = longest === jwt?.maxTokenBytes ? 'jwt.maxTokenBytes' : 'a cookie may be'
  const problem = `${claimBytes} bytes can make a token longer than ${limit}; use at most ${most}`
  report.firstProblem('headers.claimBytes', `: ${problem}`)
}

function checkAssertion({ identity, jwt, forwardAuth }: Draft, report: Report): void {
  const assertion = identity?.assertion
  if (assertion?.enabled !== true) return
  // An upstream that verifies with a shared secret could also sign tokens with it.
  if (jwt?.keyDirectory === undefined && !report.hasProblem('jwt.keyDirectory')) {
    report.problem(
      'identity.assertion.enabled',
      ' is true, so jwt.keyDirectory is required: see docs/assertions.md#turn-it-on',
    )
  }
  if (forwardAuth?.enabled === true && assertion.audience === undefined) {
    report.problem(
      'identity.assertion.audience',
      ' is required when forwardAuth is enabled: Postern does not know the upstream',
    )
  }
}

function checkAlphabet({ captcha }: Draft, report: Report): void {
  const alphabet = captcha?.alphabet ?? ''
  const repeated = [...alphabet].find((character, index) => alphabet.indexOf(character) !== index)
  if (repeated === undefined) return
  report.problem('captcha.alphabet', `: ${quote(repeated)} appears twice; list each character once`)
}

function checkOrder({ limits, login, shutdown }: Draft, report: Report): void {
  const pairs = [
    [
      'limits.headersTimeoutMs',
      limits?.headersTimeoutMs,
      'limits.requestTimeoutMs',
      limits?.requestTimeoutMs,
    ],
    ['limits.targetBytes', limits?.targetBytes, 'limits.headerBytes', limits?.headerBytes],
    [
      'login.waitSeconds',
      login?.waitSeconds,
      'login.longestWaitSeconds',
      login?.longestWaitSeconds,
    ],
    ['shutdown.graceMs', shutdown?.graceMs, 'shutdown.deadlineMs', shutdown?.deadlineMs],
  ] as const

  for (const [lowAt, low = 0, highAt, high = 0] of pairs) {
    if (low <= high || report.hasProblem(lowAt) || report.hasProblem(highAt)) continue
    report.problem(lowAt, `: ${low} is greater than ${highAt} (${high}); use at most ${high}`)
  }
}

/** No pattern says which ports and addresses exist. */
function checkTracing({ tracing }: Draft, report: Report): void {
  report.check('tracing.otlp', tracing?.otlp, (otlp) =>
    URL.canParse(otlp)
      ? undefined
      : `${quote(otlp)} is not valid; use a URL such as http://collector:4318`,
  )
}
