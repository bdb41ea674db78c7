import { routeLabel } from '../../admission/route-label.ts'
import { Refusal } from '../../kernel/errors.ts'
import type { Identified, Received } from '../stages.ts'
import { createRequestWindows, type RequestWindowParts } from './request-windows.ts'
import type { Route } from './route.ts'

interface RouteLimitParts extends RequestWindowParts {
  /** The part of an address that a client cannot choose freely. */
  readonly addressBlock: (address: string) => string
}

/** Refuse requests beyond the limit of their route. Synchronous: they ask no store. */
export type RouteLimits = ReturnType<typeof createRouteLimits>

/** Each route has its own windows. Postern's own endpoints have no such limit. */
export function createRouteLimits({ addressBlock, ...parts }: RouteLimitParts) {
  const windows = createRequestWindows(parts)

  function count(route: Route, who: string): void {
    const { limit } = route
    if (limit === undefined) return
    const label = routeLabel(route)
    const retryAfterSeconds = windows.take(`${limit.by} ${who} ${label}`, limit)
    if (retryAfterSeconds === 0) return
    throw new Refusal('too-many-requests', {
      reason: `rate limit of ${label} per ${limit.by}`,
      retryAfterSeconds,
      limit: limit.requests,
    })
  }

  return {
    /** Before `identify`, so that requests without a valid token count too. */
    byAddress({ route, endpoint, origin }: Received) {
      if (route?.limit?.by !== 'address' || endpoint !== undefined) return
      count(route, addressBlock(origin.address))
    },
    /** Before `authorize`, so that calls without permission count too. */
    byCaller({ received: { route, endpoint }, token }: Identified) {
      if (route?.limit?.by !== 'caller' || endpoint !== undefined || token === undefined) return
      count(route, token.caller.userId)
    },
    close: windows.close,
  }
}
