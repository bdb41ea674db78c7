import type { Report } from '../reading/report.ts'
import type { Draft } from './draft.ts'

/** Every upstream has a name that cannot be mistaken, and targets that are origins and no more. */
export function checkUpstreams(draft: Draft, report: Report): void {
  for (const [name, upstream] of Object.entries(draft.upstreams ?? {})) {
    const at = `upstreams.${name}`
    upstream?.targets?.forEach((target, index) => {
      const path = `${at}.targets[${index}]`
      if (target === undefined || report.isBroken(path)) return
      const complaint = targetComplaint(target)
      if (complaint !== undefined) report.problem(path, `${path} ${complaint}`)
    })
    checkTls(`${at}.tls`, upstream, report)
    if (name === 'gateway') {
      report.problem(at, `${at}: the name means Postern itself under endpoints; choose another`)
    }
  }
}

type Upstream = NonNullable<Draft['upstreams']>[string]

function checkTls(at: string, upstream: Upstream, report: Report): void {
  const tls = upstream?.tls
  if (tls === undefined || report.isBroken(at)) return
  if ((tls.certFile === undefined) !== (tls.keyFile === undefined)) {
    report.problem(at, `${at} needs certFile and keyFile together, or neither`)
  }
  // Whoever writes tls here believes that it is spoken.
  if (upstream?.targets?.some((target) => target?.startsWith('http://'))) {
    report.problem(at, `${at} says nothing about http:// targets: make them https://`)
  }
}

function targetComplaint(target: string): string | undefined {
  const url = URL.parse(target)
  if (url === null || !/^https?:\/\//.test(target) || url.hostname === '') {
    return 'must be scheme, host and port, such as http://orders:8080'
  }
  if (url.username !== '' || url.password !== '' || target.includes('@')) {
    return 'must not hold a user name or a password'
  }
  // What the URL parser would repair is refused: the text is what the operator reads.
  const plain = /^https?:\/\/(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:\d{1,5})?$/i
  if (!plain.test(target)) return 'must end after host and port: no path, no query, no slash'
  return url.port === '0' ? 'must not have port 0' : undefined
}
