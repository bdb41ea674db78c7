import { isControlHeader } from '../../../kernel/control-headers.ts'
import { captchaAlias, ownPaths, removedPaths } from '../../../kernel/endpoints.ts'
import { quote, subject } from '../../../kernel/quote.ts'
import { isReservedHeader } from '../../../kernel/reserved-headers.ts'
import { didYouMean } from '../../../kernel/suggest.ts'
import type { Report } from '../../reading/report.ts'
import type { Draft } from '../../schema/schema.ts'
import { ownNames } from './route-headers.ts'
import { checkRouteShaping } from './route-shaping.ts'

export const OWN_ENDPOINTS: readonly string[] = [...Object.values(ownPaths), ...removedPaths]

/** Every route has an upstream that is defined, and a path that Postern does not serve itself. */
export function checkRoutes(draft: Draft, report: Report): void {
  const { path: pagePath, enabled: hasPage } = draft.login?.page ?? {}
  const own = [
    ...OWN_ENDPOINTS,
    ...(draft.captcha?.alias ? [captchaAlias] : []),
    ...(hasPage && pagePath !== undefined ? [pagePath] : []),
  ]
  draft.routes?.forEach((route, index) => {
    const at = `routes[${index}]`
    const say = (key: string, problem: string) => report.firstProblem(`${at}.${key}`, problem)
    if (route === undefined) return

    checkRouteShaping(at, route, draft, report)
    checkUpstreamName(`${at}.upstream`, route.upstream, draft, report)
    const needsUpstream = draft.forwardAuth?.enabled !== true && route.respond === undefined
    if (route.upstream === undefined && needsUpstream) {
      say('upstream', ' is required unless forwardAuth is enabled: name one of upstreams')
    }
    if (route.access === 'public' && route.reason === undefined) {
      say('reason', ' is required on a public route: say why it needs no login')
    }
    const by = route.limit?.by
    if (route.access === 'public' && (by === 'caller' || by === 'role')) {
      say(
        'limit.by',
        `: "${by}" cannot be used on a public route, which has no caller; use address`,
      )
    }
    if (route.access !== 'public' && route.carriers?.length === 0) {
      say('carriers', ' is empty: name at least one of header, query and cookie')
    }
    for (const carrier of route.carriers ?? []) {
      if (carrier === undefined || /^(?:header|query|cookie)$/.test(carrier)) continue
      if (carrier.includes('-') && isReservedHeader(carrier, 'request', ownNames(draft))) {
        say('carriers', `: ${subject(carrier)} is a reserved header; use one such as X-API-Key`)
      }
      if (draft.tokens?.service?.enabled === false) {
        say(
          'carriers',
          `: ${subject(carrier)} carries service tokens only; set tokens.service.enabled`,
        )
      }
    }
    for (const name of route.passHeaders ?? []) {
      if (name === undefined || isControlHeader(name.toLowerCase())) continue
      say(
        'passHeaders',
        `: ${subject(name)} is not one of X-Accel-*, X-Sendfile*, X-Envoy-* or X-Middleware-*; remove it: this setting has no effect on other headers`,
      )
    }
    report.check(`${at}.replacePrefix`, route.replacePrefix, pathProblem)
    if (route.path === undefined) return

    // Only an exact route can tell /orders/ from /orders.
    const compared = route.match === 'exact' ? route.path.replace(/(?<=[^/])\/$/, '') : route.path
    report.check(`${at}.path`, compared, (path) => pathProblem(path) ?? reservedProblem(path, own))
  })
}

/** Endpoints that can be delegated are answered by the gateway or by an upstream that is defined. */
export function checkEndpoints(draft: Draft, report: Report): void {
  for (const name of ['logout', 'profile', 'password'] as const) {
    const value = draft.endpoints?.[name]
    if (value !== 'gateway') checkUpstreamName(`endpoints.${name}`, value, draft, report)
  }
}

function checkUpstreamName(at: string, name: string | undefined, draft: Draft, report: Report) {
  const upstreams = draft.upstreams ?? {}
  if (name === undefined || Object.hasOwn(upstreams, name)) return
  if (report.hasProblem(at) || report.hasProblem('upstreams')) return

  const known = Object.keys(upstreams)
  const defined = known.slice(0, 20).join(', ') || 'none'
  const hint = didYouMean(name, known) || '; add it under upstreams'
  report.problem(at, `: ${subject(name)} is not defined (defined: ${defined})${hint}`)
}

/** A path is compared with canonical paths: one that is not canonical would never match. */
export function pathProblem(path: string): string | undefined {
  const segments = path.split('/').slice(1)
  const shown = subject(path)

  if (!path.startsWith('/')) return `${shown} must start with /`
  if (path === '/') return undefined
  if (path.endsWith('/')) return `${shown} must not end with /; remove it`
  if (segments.includes('')) return `${shown} must not contain //`
  if (segments.some((segment) => segment === '.' || segment === '..')) {
    return `${shown} must not contain . or .. segments`
  }
  if (path.includes('*') || segments.some((segment) => segment.startsWith(':'))) {
    return `${shown} is a pattern; write a prefix: a route covers everything below it`
  }
  // RFC 3986 3.3 without percent-encoding and without the parameters that ; starts.
  const [character] = /[^\w.~!$&'()+,=:@/-]/u.exec(path) ?? []
  return character && `${shown} must not contain ${quote(character)}`
}

function reservedProblem(path: string, own: readonly string[]): string | undefined {
  // refresh_token must not exist in any spelling, so case must not open a way to it.
  const spelled = path.toLowerCase()
  const endpoint = own.find((it) => `${spelled}/`.startsWith(`${it.toLowerCase()}/`))
  if (endpoint === undefined) return undefined
  return `${subject(path)} is reserved: ${endpoint} belongs to Postern; use another path`
}
