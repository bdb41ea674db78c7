import { readDatabaseUrl } from '../../database-url.ts'
import { modeFacts } from '../mode.ts'
import type { Report } from '../reading/report.ts'
import { checkCors } from './cors.ts'
import type { Draft } from './draft.ts'
import { checkListeners } from './listeners.ts'
import { originComplaint } from './origin-form.ts'
import { checkForwardAuth, checkProxies } from './proxies.ts'
import { checkEndpoints, checkRoutes } from './routes.ts'
import { MASK, secretWeakness } from './secret-strength.ts'
import { notShared } from './shared-stores.ts'
import { checkUpstreams } from './upstreams.ts'

// Names that HTTP or Postern gives a meaning of its own; identity under one of them would be lost
// or would change how the message is read.
const TAKEN =
  /^(host|connection|keep-alive|te|trailer|transfer-encoding|upgrade|expect|date|origin|referer|user-agent|via|authorization|cookie|set-cookie|forwarded|traceparent|tracestate|(content|proxy|x-forwarded|sec|if)-.*)$/

/** The rules that no single setting can tell. Reports every one that does not hold. */
export function crossCheck(draft: Draft, report: Report): void {
  checkSecret(draft, report)
  checkLifetime(draft, report)
  checkCookie(draft, report)
  checkDatabase(draft, report)
  checkWorkers(draft, report)
  checkLoginLog(draft, report)
  checkPolicySource(draft, report)
  checkPorts(draft, report)
  checkProxies(draft, report)
  checkForwardAuth(draft, report)
  checkCors(draft, report)
  checkUpgrades(draft, report)
  checkHeaders(draft, report)
  checkAssertion(draft, report)
  checkAlphabet(draft, report)
  checkOrder(draft, report)
  checkUpstreams(draft, report)
  checkListeners(draft, report)
  checkRoutes(draft, report)
  checkEndpoints(draft, report)
}

function checkSecret({ application, jwt }: Draft, report: Report): void {
  const at = 'jwt.secret'
  if (report.isBroken(at)) return
  const secret = jwt?.secret
  const cure = 'set POSTERN_JWT__SECRET, or POSTERN_JWT__SECRET_FILE, to 32 random bytes or more'

  if (secret === MASK) {
    report.problem(at, `${at} is the mask that config print writes: ${cure}`)
    return
  }
  if (modeFacts(application?.mode, 0).weakSecretAllowed) return
  if (secret === undefined) {
    if (jwt?.keyDirectory !== undefined || report.isBroken('jwt.keyDirectory')) return
    report.problem(at, `${at} is missing: ${cure}`)
    return
  }
  const weakness = secretWeakness(secret)
  if (weakness !== undefined) report.problem(at, `${at} ${weakness}: ${cure}`)
}

function checkLifetime({ jwt }: Draft, report: Report): void {
  const at = 'jwt.maxLifetimeSeconds'
  const { maxLifetimeSeconds, timeout } = jwt ?? {}
  if (maxLifetimeSeconds === undefined || timeout === undefined || report.isBroken(at)) return
  if (maxLifetimeSeconds >= timeout || report.isBroken('jwt.timeout')) return
  report.problem(
    at,
    `${at} ${maxLifetimeSeconds} is less than jwt.timeout ${timeout}: every token issued here would be rejected`,
  )
}

function checkCookie({ application, cookie }: Draft, report: Report): void {
  // Browsers throw such a cookie away.
  const secure = modeFacts(application?.mode, 0).secureCookie
  if (cookie?.set && cookie.sameSite === 'none' && !secure) {
    const at = 'cookie.sameSite'
    report.problem(at, `${at} none needs a Secure cookie, which this mode does not set`)
  }
  for (const [index, origin] of cookie?.trustedOrigins?.entries() ?? []) {
    const at = `cookie.trustedOrigins[${index}]`
    if (origin === undefined) continue
    const complaint = originComplaint(origin)
    if (complaint !== undefined) report.problem(at, `${at} ${complaint}`)
  }
}

function checkDatabase({ database }: Draft, report: Report): void {
  const hosts = database?.url === undefined ? undefined : readDatabaseUrl(database.url)
  if (typeof hosts === 'string') report.problem('database.url', `database.url ${hosts}`)
}

function checkWorkers(draft: Draft, report: Report): void {
  const at = 'application.workers'
  const workers = draft.application?.workers
  const missing = notShared(draft).filter((name) => !report.isBroken(name))
  if (typeof workers !== 'number' || workers === 1 || missing.length === 0) return
  report.problem(
    at,
    `${at} ${workers} needs ${missing.join(' and ')}: accounts, captchas, limits and logouts would differ between workers`,
  )
}

function checkLoginLog({ logger }: Draft, report: Report): void {
  if (logger?.required !== true || logger.enableddb !== false) return
  report.problem('logger.required', 'logger.required needs a login log: set logger.enableddb')
}

function checkPolicySource({ policy, redis }: Draft, report: Report): void {
  const url = redis?.url
  if (policy?.source === 'redis' && url === undefined && !report.isBroken('redis.url')) {
    report.problem('policy.source', 'policy.source is redis: say where that is, with redis.url')
  }
  if (policy?.source === 'files' && policy.snapshot !== undefined) {
    report.problem('policy.snapshot', 'policy.snapshot is for policy.source redis: take it out')
  }
  // Else the keys of one script would lie on several nodes, and every publication would fail.
  const prefix = redis?.prefix
  if (url?.includes('+cluster:') && prefix !== undefined && !/^[^{]*\{[^}]+\}/.test(prefix)) {
    report.problem('redis.prefix', 'redis.prefix needs braces on a cluster, such as {postern}:')
  }
}

function checkPorts({ application, ops, forwardAuth }: Draft, report: Report): void {
  const ports = [
    ['application.port', application?.port],
    ['ops.port', ops?.port],
    ['forwardAuth.port', forwardAuth?.enabled ? forwardAuth.port : 0],
  ] as const

  for (const [index, [at, port]] of ports.entries()) {
    // 0 is a free port, another one each time.
    const other = port === 0 ? undefined : ports.slice(0, index).find(([, it]) => it === port)
    if (other === undefined || report.isBroken(at) || report.isBroken(other[0])) continue
    report.problem(at, `${at} is that of ${other[0]}: they must differ`)
  }
}

function checkUpgrades({ upgrades }: Draft, report: Report): void {
  upgrades?.protocols?.forEach((protocol, index) => {
    const at = `upgrades.protocols[${index}]`
    // Whoever had one call checked could make any other on the same connection.
    if (protocol === 'h2c' || protocol?.startsWith('http/') || protocol?.startsWith('tls/')) {
      report.problem(at, `${at} would carry requests that nobody checks: take it out`)
    }
  })
}

function checkHeaders({ headers, identity }: Draft, report: Report): void {
  const owners = new Map<string, string>()
  const named: (readonly [string, string | undefined])[] = [
    ...Object.entries(headers ?? {}).map(([key, name]) => [`headers.${key}`, name] as const),
    ['identity.assertion.header', identity?.assertion?.header],
  ]

  for (const [at, name] of named) {
    if (name === undefined) continue
    // Upstreams that hand headers on as variables read - and _ as one.
    const folded = name.toLowerCase().replace(/[^a-z0-9]/g, '-')
    const owner = owners.get(folded)
    if (owner !== undefined) report.problem(at, `${at} has the name of ${owner}: they must differ`)
    else if (TAKEN.test(folded)) report.problem(at, `${at} is a name with another meaning`)
    owners.set(folded, owner ?? at)
  }
}

function checkAssertion({ identity, jwt, forwardAuth }: Draft, report: Report): void {
  const assertion = identity?.assertion
  if (assertion?.enabled !== true) return
  // Whoever can verify by a shared secret can make tokens with it.
  if (jwt?.keyDirectory === undefined && !report.isBroken('jwt.keyDirectory')) {
    report.problem(
      'identity.assertion.enabled',
      'identity.assertion.enabled needs a key that upstreams can verify by: set jwt.keyDirectory',
    )
  }
  if (forwardAuth?.enabled === true && assertion.audience === undefined) {
    report.problem(
      'identity.assertion.audience',
      'identity.assertion.audience is missing: with forwardAuth nobody knows where calls go',
    )
  }
}

function checkAlphabet({ captcha }: Draft, report: Report): void {
  const alphabet = captcha?.alphabet ?? ''
  if (new Set(alphabet).size === alphabet.length) return
  report.problem('captcha.alphabet', 'captcha.alphabet repeats a character: keep each one once')
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
    if (low <= high || report.isBroken(lowAt) || report.isBroken(highAt)) continue
    report.problem(lowAt, `${lowAt} must not be more than ${highAt}`)
  }
}
