import { Fault } from '../kernel/errors.ts'
import type { CompiledPolicies } from './engine/decision.ts'

/**
 * The active policies. Two states:
 *
 * - empty: nothing has been swapped in yet. `current` throws a Fault, `revision` and `since` are
 *   `undefined`. Left by the first `swap`, never entered again.
 * - serving: `current` returns the last compiled policies that were swapped in. A `swap` with a
 *   sequence number above the highest one seen, or without a number, replaces them. Any other `swap`
 *   changes nothing, so an older policy that arrives late never undoes a newer one.
 *
 * Do not call `swap` for an invalid policy: the last good one stays active.
 */
export type LivePolicies = ReturnType<typeof createLivePolicies>

/** Starts empty. */
export function createLivePolicies(now: () => number = Date.now) {
  let current: CompiledPolicies | undefined
  let since: number | undefined
  let highest = Number.NEGATIVE_INFINITY

  return {
    current() {
      if (current === undefined) throw new Fault('policies', { reason: 'no policy is loaded yet' })
      return current
    },
    /** Whether these policies are now active. */
    swap(compiled: CompiledPolicies, sequence?: number) {
      // Written so that NaN is not above anything.
      if (sequence !== undefined && !(sequence > highest)) return false
      if (sequence !== undefined) highest = sequence
      if (compiled.revision !== current?.revision) since = now()
      current = compiled
      return true
    },
    revision: () => current?.revision,
    /** When the active revision became active, by the clock that was passed in. */
    since: () => since,
  }
}
