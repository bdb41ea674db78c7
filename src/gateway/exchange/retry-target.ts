import type { WireRequest } from '../../wire/request-head.ts'
import type { Notes } from '../arrival/notes.ts'
import type { StickyChoice } from '../upstream/sticky.ts'
import type { Target } from '../upstream/target.ts'
import { isCut, isFoundClosed, isStale, repeatOf } from '../upstream/upstream-errors.ts'
import type { Upstream } from '../upstream/upstreams.ts'

/** The parts of an exchange that decide about a retry. */
export interface Retryable {
  readonly parts: {
    readonly request: WireRequest
    readonly upstream: Upstream
    readonly upgrade: unknown
    readonly sticky: StickyChoice | undefined
    readonly notes: Notes
  }
  readonly target: Target
  /** Whether the response has begun. */
  readonly responding: boolean
  tried: Set<Target> | undefined
  /** A target that had closed an idle connection: a new one may succeed. */
  stale: Target | undefined
  /** The retries that counted against `retries` and the budget. */
  counted: number
}

/** The most retries that do not count: nothing was sent, or an idle connection was closed. */
const maxUncounted = 3

/** Limit of retries after closed connections: a gateway without CPU may find several before it opens one. */
const maxClosed = 10

/**
 * The target for a retry after this error, if one is allowed: another target first, else the same one
 * if a new connection can help. Takes counted retries from the budget.
 */
export function retryTarget(it: Retryable, error: Error): Target | undefined {
  const { request, upstream, upgrade, sticky, notes } = it.parts
  const repeat = it.responding ? undefined : repeatOf(request, error)
  if (repeat === undefined) return undefined
  it.tried = (it.tried ?? new Set()).add(it.target)
  if (isStale(error)) it.stale = it.target
  let next = upstream.chooseAnother(upgrade !== undefined, it.tried, sticky?.stick)
  if (next === undefined) {
    next = it.stale
    it.stale = undefined
  }
  if (repeat !== 'lost' && next !== undefined) {
    const most = isFoundClosed(error) ? maxClosed : maxUncounted
    return (notes.retries ?? 0) - it.counted < most ? next : undefined
  }
  // A new connection broke; another one to the same target may hold.
  if (isCut(error)) next ??= it.target
  if (next === undefined || it.counted >= upstream.settings.retries || !upstream.budget.take()) {
    return undefined
  }
  it.counted++
  return next
}
