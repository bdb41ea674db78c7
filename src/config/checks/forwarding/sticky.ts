import { subject } from '../../../kernel/quote.ts'
import type { Report } from '../../reading/report.ts'
import type { RouteDraft } from './route-headers.ts'

/** The token, and the logins in progress at an identity provider. */
const ownCookie = /^(?:jwt|postern_login_.*)$/i

/** Browsers accept a name with one of these prefixes only with attributes that ours does not have. */
const restricted = /^__(?:host|secure|http|host-http)-/i

/** Clients can be recognized as `sticky` says, and its cookie is not another one of ours. */
export function checkSticky(at: string, route: RouteDraft, report: Report): void {
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
