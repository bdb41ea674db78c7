import type { WireRequest } from '../../wire/request-head.ts'
import type { Notes } from '../arrival/notes.ts'
import type { Target } from '../upstream/target.ts'
import { isCut, isStale, repeatOf } from '../upstream/upstream-errors.ts'
import type { Upstream } from '../upstream/upstreams.ts'

/** A request that was sent at least once, and what is known about that. */
export interface Retryable {
  readonly parts: {
    readonly request: WireRequest
    readonly upstream: Upstream
    readonly upgrade: unknown
    readonly notes: Notes
  }
  readonly target: Target
  /** Whether the response has begun. */
  readonly responding: boolean
  tried: Set<Target> | undefined
  /** A target whose idle connection turned out to be closed: a new one may do. */
  stale: Target | undefined
  /** How many of its retries counted against `retries` and the budget. */
  counted: number
}

/** How many do not count: those of what no target can have seen, or lost on an idle connection. */
const maxUncounted = 3

/**
 * Where to send a request again that failed with this error, if it may be: to another target first,
 * else to the same one where a new connection can help. Takes what it counts from the budget.
 */
export function retryTarget(it: Retryable, error: Error): Target | undefined {
  const { request, upstream, upgrade, notes } = it.parts
  const repeat = it.responding ? undefined : repeatOf(request, error)
  if (repeat === undefined) return undefined
  it.tried = (it.tried ?? new Set()).add(it.target)
  if (isStale(error)) it.stale = it.target
  let next = upstream.chooseAnother(upgrade !== undefined, it.tried)
  if (next === undefined) {
    next = it.stale
    it.stale = undefined
  }
  if (repeat !== 'lost' && next !== undefined) {
    return (notes.retries ?? 0) - it.counted < maxUncounted ? next : undefined
  }
  // A new connection broke: another one to the same target may not.
  if (isCut(error)) next ??= it.target
  if (next === undefined || it.counted >= upstream.retries || !upstream.budget.take()) {
    return undefined
  }
  it.counted++
  return next
}
