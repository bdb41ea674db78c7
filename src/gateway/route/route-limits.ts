import { routeLabel } from '../../admission/route-label.ts'
import { Refusal } from '../../kernel/errors.ts'
import type { VerifiedToken } from '../../token/tokens.ts'
import type { Arrival } from '../arrival/arrival.ts'
import type { Identified, Received } from '../stages.ts'
import { createRequestWindows, type RequestWindowParts } from './request-windows.ts'
import type { Route, RouteLimit } from './route.ts'

interface RouteLimitParts extends RequestWindowParts {
  /** The part of an address that a client cannot choose freely. */
  readonly addressBlock: (address: string) => string
}

/** Refuse requests beyond the limit of their route. Synchronous: they ask no store. */
export type RouteLimits = ReturnType<typeof createRouteLimits>

/** Each route has its own windows. Postern's own endpoints have no such limit. */
export function createRouteLimits({ addressBlock, ...parts }: RouteLimitParts) {
  const windows = createRequestWindows(parts)

  function count(route: Route, limit: RouteLimit, who: string, { notes }: Arrival): void {
    const { by, requests, seconds } = limit
    const label = routeLabel(route)
    // All routes to a service share its limit.
    const isShared = by === 'service' && route.upstream !== undefined
    const place = isShared ? `${requests}/${seconds}/${limit.burst}` : label
    const taken = windows.take(`${by} ${who} ${place}`, limit)
    const { retryAfterSeconds, remaining, resetSeconds } = taken
    // draft-ietf-httpapi-ratelimit-headers-11: quota, window, remaining, and seconds until it is whole.
    const rateLimit = [
      ...['RateLimit-Policy', `"${by}";q=${requests};w=${seconds}`],
      ...['RateLimit', `"${by}";r=${remaining};t=${resetSeconds}`],
    ]
    if (retryAfterSeconds === 0) notes.rateLimit = rateLimit
    else {
      const reason = `rate limit of ${label} per ${by}`
      const detail = { reason, retryAfterSeconds, limit: requests, rateLimit }
      throw new Refusal('too-many-requests', detail)
    }
  }

  return {
    /** Before `identify`, so that requests without a valid token count too. */
    byAddress({ route, endpoint, origin, arrival }: Received) {
      if (route?.limit?.by !== 'address' || endpoint !== undefined) return
      count(route, route.limit, addressBlock(origin.address), arrival)
    },
    /** Before `authorize`, so that calls without permission count too. */
    byCaller({ received: { route, endpoint, arrival }, token }: Identified) {
      if (route?.limit === undefined || endpoint !== undefined) return
      const who = whoOf(route.limit, route, token)
      if (who !== undefined) count(route, route.limit, who, arrival)
    },
    close: windows.close,
  }
}

function whoOf({ by }: RouteLimit, { upstream }: Route, token: VerifiedToken | undefined) {
  if (by === 'service') return upstream ?? ''
  return by === 'role' ? token?.caller.roleKey : by === 'caller' ? token?.caller.userId : undefined
}
