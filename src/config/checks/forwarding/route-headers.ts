import { subject } from '../../../kernel/quote.ts'
import { foldName, isReservedHeader } from '../../../kernel/reserved-headers.ts'
import { ownHeaders } from '../../identity-headers.ts'
import type { Report } from '../../reading/report.ts'
import type { Draft } from '../../schema/schema.ts'

export type RouteDraft = NonNullable<NonNullable<Draft['routes']>[number]>
type Direction = 'request' | 'response'

/** Header settings of a route touch no reserved header, and name each header once. */
export function checkRouteHeaders(
  at: string,
  route: RouteDraft,
  draft: Draft,
  report: Report,
): void {
  const { requestHeaders, responseHeaders, respond } = route
  const { set = {}, add = {}, remove = [] } = requestHeaders ?? {}
  const response = responseHeaders ?? {}
  const check = (
    place: string,
    direction: Direction,
    names: readonly (readonly [string, string])[],
  ) => checkNames(`${at}.${place}`, direction, names, draft, report)

  check('requestHeaders', 'request', named(set, add, remove))
  check('responseHeaders', 'response', named(response.set, response.add, response.remove))
  const own = Object.keys(respond?.headers ?? {}).map((name) => [`headers.${name}`, name] as const)
  check('respond', 'response', own)
}

/** Where each header is named, and its name. */
function named(
  set: object = {},
  add: object = {},
  remove: readonly (string | undefined)[] = [],
): (readonly [string, string])[] {
  return [
    ...Object.keys(set).map((name) => [`set.${name}`, name] as const),
    ...Object.keys(add).map((name) => [`add.${name}`, name] as const),
    ...remove.flatMap((name, index) =>
      name === undefined ? [] : [[`remove[${index}]`, name] as const],
    ),
  ]
}

function checkNames(
  at: string,
  direction: Direction,
  names: readonly (readonly [string, string])[],
  draft: Draft,
  report: Report,
): void {
  const firstAt = new Map<string, string>()
  for (const [key, name] of names) {
    const place = `${at}.${key}`
    const folded = foldName(name.toLowerCase())
    const first = firstAt.get(folded)
    const problem =
      reservedProblem(name, direction, draft) ??
      (first && `${subject(name)} is the same header as ${first}; keep one`)
    if (problem !== undefined) report.firstProblem(place, `: ${problem}`)
    firstAt.set(folded, first ?? `${at}.${key}`)
  }
}

function reservedProblem(name: string, direction: Direction, draft: Draft): string | undefined {
  const folded = foldName(name.toLowerCase())
  const hasCors = (draft.cors?.origins ?? []).length > 0
  if (isReservedHeader(name, direction, ownNames(draft))) {
    return `${subject(name)} is a reserved header, which routes cannot change; remove it`
  }
  if (direction === 'response' && hasCors && /^(?:access-control-.*|vary)$/.test(folded)) {
    return `${subject(name)} belongs to cors, which sets it; remove it here`
  }
  return undefined
}

/** The names that identify the caller to upstreams. */
export function ownNames(draft: Draft): ReadonlySet<string> {
  return new Set(ownHeaders(draft).map(({ name }) => foldName(name.toLowerCase())))
}
