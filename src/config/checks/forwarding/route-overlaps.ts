import { METHODS } from 'node:http'
import { isRefusedMethod } from '../../../admission/classify.ts'
import { placesOf } from '../../../admission/route-table.ts'
import { subject } from '../../../kernel/quote.ts'
import { didYouMean } from '../../../kernel/suggest.ts'
import type { Report } from '../../reading/report.ts'
import type { Draft } from '../../schema/schema.ts'

/** No two routes match the same request with the same rank, and names are unique. */
export function checkRouteOverlaps({ routes }: Draft, report: Report): void {
  const places = new Map<string, string>()
  const names = new Map<string, string>()

  routes?.forEach((route, index) => {
    const at = `routes[${index}]`
    if (route === undefined) return
    report.checkEach(`${at}.methods`, route.methods, methodProblem)
    const namesake = route.name === undefined ? undefined : names.get(route.name)
    if (namesake !== undefined) {
      const message = `${subject(route.name)} is already the name of ${namesake}; choose another`
      report.problem(`${at}.name`, `: ${message}`)
    }
    if (route.name !== undefined) names.set(route.name, namesake ?? at)
    if (report.hasProblem(`${at}.path`)) return

    const own = route.path === undefined ? [] : placesOf(route.path, route)
    const taken = own.find(({ key }) => places.has(key))
    for (const { key } of own) if (!places.has(key)) places.set(key, at)
    if (taken === undefined) return
    const first = places.get(taken.key)
    const message = `${subject(route.path)}${taken.words} is already the path of ${first}; keep one`
    report.problem(`${at}.path`, `: ${message}`)
  })
}

function methodProblem(method: string): string | undefined {
  if (isRefusedMethod(method)) return `Postern refuses ${method} on every path; remove it`
  if (METHODS.includes(method)) return undefined
  return `${subject(method)} is not a method of HTTP${didYouMean(method, METHODS)}`
}
