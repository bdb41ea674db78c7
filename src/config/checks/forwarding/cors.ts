import { quote, subject } from '../../../kernel/quote.ts'
import type { Report } from '../../reading/report.ts'
import type { Draft } from '../../schema/schema.ts'

/** Every origin is one that a browser can send, and `*` never comes with credentials. */
export function checkCors({ cors }: Draft, report: Report): void {
  const origins = cors?.origins ?? []
  report.checkEach('cors.origins', origins, (origin) =>
    origin === '*' ? undefined : originProblem(origin),
  )

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
    // Browsers disagree: a wildcard to some, a literal name to others, and never Authorization.
    report.checkEach(`cors.${key}`, cors?.[key], (name) =>
      name === '*' ? '"*" is not supported; list each header by name' : undefined,
    )
  }
}

/** Why an origin would never equal the `Origin` header of a browser, or `undefined`. */
export function originProblem(origin: string): string | undefined {
  const sent = URL.parse(origin)?.origin
  if (sent === origin) return undefined
  if (sent === undefined) return `${subject(origin)} is not a valid origin; check host and port`
  return `browsers send ${quote(sent)} for ${subject(origin)}; write it that way`
}
