import { subject } from '../../../kernel/quote.ts'
import type { Report } from '../../reading/report.ts'
import type { Draft } from '../../schema/schema.ts'
import { rangeProblem } from './proxies.ts'
import { checkRouteHeaders, type RouteDraft } from './route-headers.ts'

/** Settings of a route that change its requests and responses. */
export function checkRouteShaping(
  at: string,
  route: RouteDraft,
  draft: Draft,
  report: Report,
): void {
  checkRouteHeaders(at, route, draft, report)
  checkRespond(at, route, report)
  checkSticky(at, route, report)
  checkAddresses(`${at}.addresses`, route.addresses, report)
}

function checkAddresses(at: string, lists: RouteDraft['addresses'], report: Report): void {
  if (lists === undefined || report.hasProblem(at)) return
  if (lists.allow === undefined && lists.deny === undefined) {
    report.problem(at, ' needs allow or deny; remove it to accept every address')
  }
  for (const key of ['allow', 'deny'] as const) {
    report.checkEach(`${at}.${key}`, lists[key], rangeProblem)
  }
}

/** The token, and the logins in progress at an identity provider. */
const ownCookie = /^(?:jwt|postern_login_.*)$/i

/** Browsers accept a name with one of these prefixes only with attributes that ours does not have. */
const restricted = /^__(?:host|secure|http|host-http)-/i

/** Clients can be recognized as `sticky` says, and its cookie is not another one of ours. */
function checkSticky(at: string, route: RouteDraft, report: Report): void {
  const { sticky, access, upstream, respond } = route
  if (sticky === undefined) return
  const say = (key: string, problem: string) => report.firstProblem(`${at}.${key}`, problem)
  if (respond === undefined && upstream === undefined) {
    say('sticky', ' has no effect without an upstream; remove it')
  }
  if (sticky.by === 'user') {
    if (access === 'public') {
      say('sticky.by', ': "user" cannot be used on a public route, which has no user; use cookie')
    }
    for (const key of ['cookie', 'seconds'] as const) {
      if (sticky[key] !== undefined) say(`sticky.${key}`, ' has no effect with by: user; remove it')
    }
  }
  const { cookie = '' } = sticky
  if (ownCookie.test(cookie)) {
    say('sticky.cookie', `: ${subject(cookie)} is a cookie of logins; use another name`)
  } else if (restricted.test(cookie)) {
    say(
      'sticky.cookie',
      `: ${subject(cookie)} has a prefix that browsers reject for this cookie; use another name`,
    )
  }
}

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** A fixed response is complete and unambiguous, and its route has no settings for an upstream. */
function checkRespond(at: string, route: RouteDraft, report: Report): void {
  const { respond } = route
  if (respond === undefined) return
  const say = (key: string, problem: string) => report.firstProblem(`${at}.${key}`, problem)
  const { status, body, file, redirect } = respond
  const hasBody = body !== undefined || file !== undefined

  for (const key of ['upstream', 'timeouts', 'bodyBytes', 'requestHeaders', 'sticky'] as const) {
    if (route[key] !== undefined) say(key, ' has no effect with respond; remove one of the two')
  }
  if (body !== undefined && file !== undefined) {
    say('respond.file', ' cannot be combined with body; keep one')
  }
  if (redirect !== undefined && hasBody) {
    say('respond.redirect', ' cannot be combined with body or file; remove them')
  }
  if (redirect !== undefined && status !== undefined && !redirects.has(status)) {
    say('respond.status', `: ${status} is not a redirect; use 301, 302, 303, 307 or 308`)
  }
  if (hasBody && (status === 204 || status === 304)) {
    say('respond.status', `: ${status} has no body; remove body and file`)
  }
  report.check(`${at}.respond.redirect`, redirect, redirectProblem)
}

/** `{path}` starts with a slash. Inside a query, its characters would have another meaning. */
function redirectProblem(redirect: string): string | undefined {
  const [before = '', ...rest] = redirect.split('{path}')
  if (/[{}]/.test(before + rest.join(''))) {
    return `${subject(redirect)} has an unknown placeholder; only {path} is supported`
  }
  if (rest.length === 0) return undefined
  if (rest.join('') !== '' || rest.length > 1 || /[?#]/.test(before)) {
    return `${subject(redirect)} has {path} inside; put it at the end, without ? or # before it`
  }
  if (before.endsWith('/'))
    return `${subject(redirect)} has / before {path}, which starts with /; remove it`
  return undefined
}
