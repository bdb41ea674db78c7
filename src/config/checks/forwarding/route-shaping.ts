import type { Report } from '../../reading/report.ts'
import type { Draft } from '../../schema/schema.ts'
import { rangeProblem } from './proxies.ts'
import { checkRespond } from './respond.ts'
import { checkRouteHeaders, type RouteDraft } from './route-headers.ts'
import { checkSticky } from './sticky.ts'

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
    lists[key]?.forEach((range, index) => {
      const place = `${at}.${key}[${index}]`
      const problem = range === undefined ? undefined : rangeProblem(range)
      if (problem !== undefined) report.firstProblem(place, `: ${problem}`)
    })
  }
}
