import { Refusal } from '../errors.ts'
import { createRequestWindows, type RequestWindowParts } from './request-windows.ts'
import type { Route } from './routes.ts'
import type { Identified, Received } from './stages.ts'

interface RouteLimitParts extends RequestWindowParts {
  /** The part of an address that one client cannot change at will. */
  readonly addressBlock: (address: string) => string
}

/** Refuse what is beyond the limit of a route. They wait for nothing, and ask no store. */
export interface RouteLimits {
  /** Before identity is asked for: who has none is counted too. */
  byAddress(received: Received): void
  /** Before permission is asked for: a call that is not permitted is counted too. */
  byCaller(identified: Identified): void
  close(): void
}

/** The limits of all routes, each with windows of its own. Postern's own endpoints have none. */
export function createRouteLimits({ addressBlock, ...parts }: RouteLimitParts): RouteLimits {
  const windows = createRequestWindows(parts)

  function count({ path, limit }: Route, who: string): void {
    if (limit === undefined) return
    const retryAfterSeconds = windows.take(`${limit.by} ${who} ${path}`, limit)
    if (retryAfterSeconds === 0) return
    throw new Refusal('too-many-requests', {
      reason: `rate limit of ${path} per ${limit.by}`,
      retryAfterSeconds,
      limit: limit.requests,
    })
  }

  return {
    byAddress({ route, endpoint, origin }) {
      if (route?.limit?.by !== 'address' || endpoint !== undefined) return
      count(route, addressBlock(origin.address))
    },
    byCaller({ received: { route, endpoint }, token }) {
      if (route?.limit?.by !== 'caller' || endpoint !== undefined || token === undefined) return
      count(route, token.caller.userId)
    },
    close: windows.close,
  }
}
