import { makesServersAct } from '../../acting-headers.ts'
import { captchaAlias, ownPaths, removedPaths } from '../../endpoints.ts'
import { didYouMean } from '../../suggest.ts'
import type { Report } from '../reading/report.ts'
import type { Draft } from './draft.ts'

const OWN_ENDPOINTS: readonly string[] = [...Object.values(ownPaths), ...removedPaths]

/** Every route leads to an upstream that exists, and to no path that is Postern's own. */
export function checkRoutes(draft: Draft, report: Report): void {
  const own = draft.captcha?.alias ? [...OWN_ENDPOINTS, captchaAlias] : OWN_ENDPOINTS
  const firstAt = new Map<string, string>()

  draft.routes?.forEach((route, index) => {
    const at = `routes[${index}]`
    const say = (key: string, complaint: string) => {
      if (!report.isBroken(`${at}.${key}`)) report.problem(`${at}.${key}`, `${at} ${complaint}`)
    }

    checkUpstreamName(`${at}.upstream`, route?.upstream, draft, report)
    if (
      route !== undefined &&
      route.upstream === undefined &&
      draft.forwardAuth?.enabled !== true
    ) {
      say('upstream', 'names no upstream, which only a route for forwardAuth can do without')
    }
    if (route?.access === 'public' && route.reason === undefined) {
      say('reason', 'is public and needs a reason: say why nobody has to log in')
    }
    if (route?.access === 'public' && route.limit?.by === 'caller') {
      say('limit.by', 'is public and knows no caller: set limit.by to address')
    }
    for (const name of route?.passHeaders ?? []) {
      if (name === undefined || makesServersAct(name.toLowerCase())) continue
      say(
        'passHeaders',
        `passes ${name}, which is not one of X-Accel-*, X-Sendfile*, X-Envoy-* or X-Middleware-*: other headers pass without this setting, or never do`,
      )
    }
    const replacement = route?.replacePrefix && formComplaint(route.replacePrefix, 'replacePrefix')
    if (replacement) say('replacePrefix', replacement)
    if (route?.path === undefined) return

    const first = firstAt.get(route.path)
    const complaint =
      formComplaint(route.path) ??
      ownComplaint(route.path, own) ??
      (first && `has the path of ${first}: keep one`)
    if (complaint !== undefined) say('path', complaint)
    firstAt.set(route.path, first ?? at)
  })
}

/** The endpoints that can be handed over go to the gateway or to an upstream that exists. */
export function checkEndpoints(draft: Draft, report: Report): void {
  for (const name of ['logout', 'profile'] as const) {
    const value = draft.endpoints?.[name]
    if (value !== 'gateway') checkUpstreamName(`endpoints.${name}`, value, draft, report)
  }
}

function checkUpstreamName(at: string, name: string | undefined, draft: Draft, report: Report) {
  const upstreams = draft.upstreams ?? {}
  if (name === undefined || Object.hasOwn(upstreams, name)) return
  if (report.isBroken(at) || report.isBroken('upstreams')) return

  const known = Object.keys(upstreams)
  const hint = didYouMean(name, known) || `: ${known.slice(0, 20).join(', ') || 'none'} exist`
  report.problem(at, `${at} names no upstream${hint}`)
}

/** A route is compared with canonical paths, so it must be one; else it would never match. */
function formComplaint(path: string, noun = 'path'): string | undefined {
  const segments = path.split('/').slice(1)

  if (!path.startsWith('/')) return `has a ${noun} that does not begin with /`
  if (path === '/') return undefined
  if (path.endsWith('/')) return `has a ${noun} that ends with /: leave it off`
  if (segments.includes('')) return `has // in its ${noun}`
  if (segments.some((segment) => segment === '.' || segment === '..')) {
    return `has . or .. in its ${noun}`
  }
  if (path.includes('*') || segments.some((segment) => segment.startsWith(':'))) {
    return `has a pattern for a ${noun}: a route covers everything below its path without one`
  }
  // RFC 3986 3.3 without percent-encoding and without the parameters that ; begins.
  if (!/^[\w.~!$&'()+,=:@/-]+$/.test(path)) {
    return `has a ${noun} with more than plain letters, digits and -._~: no %, no ;, no ?, no #`
  }
  return undefined
}

function ownComplaint(path: string, own: readonly string[]): string | undefined {
  // refresh_token must not exist in any spelling, so letter case does not open a way to it.
  const spelled = path.toLowerCase()
  const endpoint = own.find((it) => `${spelled}/`.startsWith(`${it.toLowerCase()}/`))
  return endpoint && `has a path at or under ${endpoint}, which is Postern's own`
}
