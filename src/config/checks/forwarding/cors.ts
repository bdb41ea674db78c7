import { quote, subject } from '../../../kernel/quote.ts'
import type { Report } from '../../reading/report.ts'
import type { Draft } from '../../schema/schema.ts'

/** Every origin is one that a browser can send, and `*` never comes with credentials. */
export function checkCors({ cors }: Draft, report: Report): void {
  const origins = cors?.origins ?? []
  origins.forEach((origin, index) => {
    const at = `cors.origins[${index}]`
    if (origin === undefined || origin === '*' || report.hasProblem(at)) return
    const problem = originProblem(origin)
    if (problem !== undefined) report.problem(at, `: ${problem}`)
  })

  if (origins.includes('*') && origins.length > 1) {
    report.problem(
      'cors.origins',
      ': "*" cannot be combined with other origins; remove "*" or the others',
    )
  }
  // Any page could act as the logged-in user and read the responses.
  if (origins.includes('*') && cors?.credentials === true) {
    report.problem(
      'cors.credentials',
      ': true cannot be combined with origin "*"; list the origins',
    )
  }
  for (const key of ['headers', 'exposeHeaders'] as const) {
    cors?.[key]?.forEach((name, index) => {
      const at = `cors.${key}[${index}]`
      // Browsers disagree: a wildcard to some, a literal name to others, and never Authorization.
      if (name === '*') report.problem(at, ': "*" is not supported; list each header by name')
    })
  }
}

/** Why an origin would never equal the `Origin` header of a browser, or `undefined`. */
export function originProblem(origin: string): string | undefined {
  const sent = URL.parse(origin)?.origin
  if (sent === origin) return undefined
  if (sent === undefined) return `${subject(origin)} is not a valid origin; check host and port`
  return `browsers send ${quote(sent)} for ${subject(origin)}; write it that way`
}
