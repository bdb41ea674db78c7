import { classify, type Surface } from '../admission/classify.ts'
import type { TargetParts } from '../admission/target.ts'
import { Refusal } from '../kernel/errors.ts'
import type { ClientOrigin } from './arrival/client-origin.ts'
import type { Route } from './route/route.ts'
import type { Destination } from './stages.ts'

/** The request whose Destination header is read. */
interface Moving {
  readonly method: string
  readonly host: string | undefined
  readonly origin: ClientOrigin
  readonly route: Route | undefined
}

/** RFC 4918 10.3: an absolute URI or an absolute path. */
const form = /^(?:https?:\/\/([^/?#@]+))?(\/[^?#]*)$/i

const movingMethods = new Set(['COPY', 'MOVE'])

/** Whether servers write to the path in the Destination header of this method (RFC 4918 9.8, 9.9). */
export function hasDestination(method: string): boolean {
  return movingMethods.has(method)
}

/**
 * The path that COPY or MOVE writes to. It is a second path of the same request, so it gets the same
 * checks: without them, a caller could write wherever the service can.
 */
export function readDestination(
  text: string,
  { method, host, origin, route }: Moving,
  parts: Surface<Route> & TargetParts,
): Destination {
  const [, authority, raw] = form.exec(text) ?? []
  if (raw === undefined || raw.length > parts.maxTargetBytes) throw refused('is malformed')
  if (authority !== undefined && !isSameHost(authority, origin.host)) {
    throw refused('names another host')
  }
  const path = parts.readPath(raw, method, host)
  if (path === undefined) {
    throw new Refusal('ambiguous-path', { reason: 'Destination header' })
  }
  const found = classify(method, path, parts, host)
  if (found.isRefused || found.endpoint !== undefined || found.route !== route) {
    throw refused('is on another route')
  }
  return { path, sentPath: found.sentPath }
}

function refused(problem: string): Refusal {
  return new Refusal('bad-request', { reason: `the Destination header ${problem}` })
}

/** Ignores the scheme and its port: behind a TLS proxy, only the client knows them. */
function isSameHost(authority: string, host: string | undefined): boolean {
  return host !== undefined && withoutDefaultPort(authority) === withoutDefaultPort(host)
}

function withoutDefaultPort(authority: string): string {
  return authority.toLowerCase().replace(/:(?:80|443)$/, '')
}
