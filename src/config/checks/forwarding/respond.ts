import { subject } from '../../../kernel/quote.ts'
import type { Report } from '../../reading/report.ts'
import type { RouteDraft } from './route-headers.ts'

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** A fixed response is complete and unambiguous, and its route has no settings for an upstream. */
export function checkRespond(at: string, route: RouteDraft, report: Report): void {
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
  const problem = redirect === undefined ? undefined : redirectProblem(redirect)
  if (problem !== undefined) say('respond.redirect', `: ${problem}`)
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
