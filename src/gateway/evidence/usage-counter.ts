import type { Decision } from '../../policy/decide.ts'
import type { RefusedCall } from '../../policy/usage/usage.ts'
import type { Observe } from '../authorize.ts'
import type { OnIdentified } from '../pipeline.ts'
import type { Identified } from '../stages.ts'
import { createRefusalCounter } from './refusal-counter.ts'

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
export const usageLimits = { decisions: 20_000, roles: 2000 } as const

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
  let refusals = createRefusalCounter(showPaths)
  let others = { decision: 0, role: 0, refusal: 0 }

  function addDecision(decision: Decision): void {
    if (decisions.size >= usageLimits.decisions) others.decision++
    else if (decisions.set(decision, { count: 1 }).size === nearlyFull) onFull()
  }

  return {
    observe(identified, decision) {
      const tally = decisions.get(decision)
      if (tally !== undefined) tally.count++
      else addDecision(decision)
      if (decision.allowed) return
      if (isTooLong(identified) || !refusals.add(identified)) others.refusal++
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
      const taken = { decisions, roles, refusals: refusals.result(), others }
      decisions = new Map()
      roles = new Map()
      refusals = createRefusalCounter(showPaths)
      others = { decision: 0, role: 0, refusal: 0 }
      return taken
    },
  }
}

const nearlyFull = usageLimits.decisions / 2

/** Longer than go-admin's column, or than the name of a host. */
function isTooLong({ token }: Identified): boolean {
  return (token?.caller.roleKey.length ?? 0) > 128 || (token?.domain?.length ?? 0) > 253
}
