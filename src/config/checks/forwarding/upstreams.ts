import { subject } from '../../../kernel/quote.ts'
import type { Report } from '../../reading/report.ts'
import type { Draft } from '../../schema/schema.ts'

/** Every target is an origin and nothing more, and `gateway` is not the name of an upstream. */
export function checkUpstreams(draft: Draft, report: Report): void {
  for (const [name, upstream] of Object.entries(draft.upstreams ?? {})) {
    const at = `upstreams.${name}`
    const urls = upstream?.targets?.map(urlOf)
    report.checkEach(`${at}.targets`, urls, (url, index) => {
      const first = urls?.indexOf(url) ?? index
      return first < index ? `duplicate of ${at}.targets[${first}]; remove one` : targetProblem(url)
    })
    checkWeights(at, upstream, report)
    checkTls(`${at}.tls`, upstream, report)
    checkProtocol(at, upstream, report)
    if (name === 'gateway') {
      report.problem(at, ': this name means Postern itself under endpoints; use another name')
    }
  }
}

type Upstream = NonNullable<Draft['upstreams']>[string]
type Target = NonNullable<NonNullable<Upstream>['targets']>[number]

/** The address of a target, which may have a weight. */
export function urlOf(target: Target): string | undefined {
  return typeof target === 'object' ? target.url : target
}

function checkWeights(at: string, upstream: Upstream, report: Report): void {
  const isUnused = (target: Target) => typeof target === 'object' && target.weight === 0
  const { targets = [] } = upstream ?? {}
  if (targets.length === 0 || !targets.every(isUnused)) return
  report.problem(`${at}.targets`, ': every weight is 0, so no request can be forwarded; raise one')
}

function checkTls(at: string, upstream: Upstream, report: Report): void {
  const tls = upstream?.tls
  if (tls === undefined || report.hasProblem(at)) return
  if ((tls.certFile === undefined) !== (tls.keyFile === undefined)) {
    const missing = tls.certFile === undefined ? 'certFile' : 'keyFile'
    report.problem(at, `: certFile and keyFile must be set together; add ${missing}`)
  }
  // The operator expects TLS, and the connection would be plain.
  if (upstream?.targets?.some((target) => urlOf(target)?.startsWith('http://'))) {
    report.problem(at, ' has no effect on http:// targets; change them to https://')
  }
}

function checkProtocol(at: string, upstream: Upstream, report: Report): void {
  const { protocol, targets = [], keepAlive } = upstream ?? {}
  if (protocol !== undefined && protocol !== 'http1' && keepAlive === false) {
    report.problem(
      `${at}.keepAlive`,
      `: false is for HTTP/1.1 only, and protocol is "${protocol}"; remove one`,
    )
  }
  if (protocol !== 'h2' && protocol !== 'h2c') return
  const [wrong, other] = protocol === 'h2' ? ['http://', 'h2c'] : ['https://', 'h2']
  report.checkEach(`${at}.targets`, targets.map(urlOf), (url) => {
    if (!url.startsWith(wrong)) return undefined
    return `protocol "${protocol}" cannot be used with ${wrong} targets; set ${at}.protocol to "${other}"`
  })
}

function targetProblem(target: string): string | undefined {
  const url = URL.parse(target)
  if (url === null || !/^https?:\/\//.test(target) || url.hostname === '') {
    return `${subject(target)} is not scheme, host and port, such as http://orders:8080`
  }
  if (url.username !== '' || url.password !== '' || target.includes('@')) {
    return 'must not contain a user name or a password; remove it'
  }
  // What the URL parser would fix is rejected: operators read the text, not the parser's result.
  const plain = /^https?:\/\/(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:\d{1,5})?$/i
  // A query may hold an API key: the message has the origin only.
  if (!plain.test(target))
    return `must end after host and port, without a path; write ${url.origin}`
  return url.port === '0' ? `${subject(target)} has port 0; use the port of the service` : undefined
}
