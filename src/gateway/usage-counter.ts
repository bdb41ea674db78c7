import type { Decision } from '../policy/decide.ts'
import { pathShape } from '../policy/usage/path-shape.ts'
import type { RefusedCall } from '../policy/usage/usage.ts'
import type { Observe } from './authorize.ts'
import type { OnIdentified } from './pipeline.ts'
import type { Identified } from './stages.ts'

/** A number that grows in place: one look-up for each request instead of two. */
interface Tally {
  count: number
}

/** What was counted since the last time. */
interface UsageTally {
  readonly decisions: ReadonlyMap<Decision, Readonly<Tally>>
  readonly roles: ReadonlyMap<string, Readonly<Tally>>
  readonly refusals: ReadonlyMap<string, RefusedCall & Readonly<Tally>>
  /** What came after the limits were reached. */
  readonly others: Readonly<Record<'decision' | 'role' | 'refusal', number>>
}

interface UsageCounter {
  readonly observe: Observe
  readonly onIdentified: OnIdentified
  /** Returns what was counted, and starts again from nothing. */
  readonly take: () => UsageTally
}

/** How many different things are counted between two calls of `take`: a few megabytes at most. */
export const usageLimits = { decisions: 20_000, roles: 2000, refusals: 1000 } as const

interface UsageCounterParts {
  /** Whether refused paths may be kept; else only their routes are. */
  readonly showPaths: boolean
  /** Called once when the limit of decisions is near: the caller should `take`. */
  readonly onFull: () => void
}

/**
 * Counts which decisions are made, which roles tokens carry and what is refused. Decisions are shared
 * objects, so one look-up by identity finds the number to increment: no text is built unless a call is
 * refused. Clients choose paths, so everything is bounded, and what exceeds a bound is one number.
 */
export function createUsageCounter({ showPaths, onFull }: UsageCounterParts): UsageCounter {
  let decisions = new Map<Decision, Tally>()
  let roles = new Map<string, Tally>()
  let refusals = new Map<string, RefusedCall & Tally>()
  let others = { decision: 0, role: 0, refusal: 0 }

  function addDecision(decision: Decision): void {
    if (decisions.size >= usageLimits.decisions) others.decision++
    else if (decisions.set(decision, { count: 1 }).size === nearlyFull) onFull()
  }

  function addRefusal(identified: Identified): void {
    const { token, received } = identified
    const path = showPaths ? pathShape(received.call.path) : undefined
    const coarse = {
      roleKey: token?.caller.roleKey ?? '',
      method: received.call.method,
      ...(received.route !== undefined && { route: received.route.path }),
    }
    // Half of the entries are left for routes, so that a scan of paths does not hide its role.
    const isAdded =
      !isTooLong(identified) &&
      ((path !== undefined && addCall({ ...coarse, path }, usageLimits.refusals / 2)) ||
        addCall(coarse, usageLimits.refusals))
    if (!isAdded) others.refusal++
  }

  /** Whether there was space for it. */
  function addCall(call: RefusedCall, most: number): boolean {
    const { roleKey, method, path = '', route = '' } = call
    const name = `${roleKey}\0${method}\0${path}\0${route}`
    const tally = refusals.get(name)
    if (tally !== undefined) tally.count++
    else if (refusals.size < most) refusals.set(name, { ...call, count: 1 })
    else return false
    return true
  }

  return {
    observe(identified, decision) {
      const tally = decisions.get(decision)
      if (tally !== undefined) tally.count++
      else addDecision(decision)
      if (!decision.allowed) addRefusal(identified)
    },
    onIdentified(identified) {
      if (identified.token === undefined) return
      const { roleKey } = identified.token.caller
      const tally = roles.get(roleKey)
      if (tally !== undefined) tally.count++
      else if (roles.size >= usageLimits.roles || isTooLong(identified)) others.role++
      else roles.set(roleKey, { count: 1 })
    },
    take() {
      const taken = { decisions, roles, refusals, others }
      decisions = new Map()
      roles = new Map()
      refusals = new Map()
      others = { decision: 0, role: 0, refusal: 0 }
      return taken
    },
  }
}

const nearlyFull = usageLimits.decisions / 2

/** Longer than go-admin's column. */
function isTooLong({ token }: Identified): boolean {
  return (token?.caller.roleKey.length ?? 0) > 128
}
