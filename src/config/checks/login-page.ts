import { readOwnPath } from '../../admission/own-path.ts'
import { subject } from '../../kernel/quote.ts'
import type { Report } from '../reading/report.ts'
import type { Draft } from '../schema/schema.ts'
import { OWN_ENDPOINTS, pathProblem } from './forwarding/routes.ts'

/** The page has a path of its own and logs in by cookie. */
export function checkLoginPage({ login, cookie }: Draft, report: Report): void {
  const page = login?.page
  if (page?.enabled !== true) return
  const say = (at: string, problem: string) => report.firstProblem(at, problem)

  if (cookie?.set === false && !report.hasProblem('cookie.set')) {
    say('login.page.enabled', ' is true, so cookie.set must be true: the page logs in by cookie')
  }
  if (page.path !== undefined) {
    const problem = pagePathProblem(page.path)
    if (problem !== undefined) say('login.page.path', `: ${problem}`)
  }
  const { afterLogin } = page
  if (afterLogin !== undefined && readOwnPath(afterLogin) === undefined) {
    say(
      'login.page.afterLogin',
      `: ${subject(afterLogin)} is not a path of this host; write one such as /orders`,
    )
  }
}

function pagePathProblem(path: string): string | undefined {
  if (path === '/') return '"/" would hide the first page of your application; use /login'
  const own = OWN_ENDPOINTS.find((it) =>
    `${path.toLowerCase()}/`.startsWith(`${it.toLowerCase()}/`),
  )
  if (own !== undefined) {
    return `${subject(path)} is reserved: ${own} is an endpoint of Postern; use another path`
  }
  return pathProblem(path)
}
