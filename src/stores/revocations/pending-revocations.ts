import type { Revocation } from '../../token/revocations.ts'
import { PAGE, toRow } from './revocation-store.ts'

/**
 * Revocations made here that the store lacks. One write can carry `PAGE` of them; the rest wait for
 * the next comparison of the whole list.
 */
export function createPendingRevocations() {
  const pending = new Map<string, Revocation>()
  let beyond = 0
  return {
    isEmpty: () => pending.size === 0 && beyond === 0,
    /** The revocations of one call are written together. */
    add(...revocations: readonly Revocation[]) {
      const named = revocations.map((one) => [toRow(one).name, one] as const)
      const missing = named.filter(([name]) => !pending.has(name)).length
      if (pending.size + missing > PAGE) beyond += missing
      else for (const [name, revocation] of named) pending.set(name, revocation)
    },
    async flush(append: (revocations: readonly Revocation[]) => Promise<void>) {
      if (pending.size === 0) return
      const written = [...pending]
      await append(written.map(([, revocation]) => revocation))
      for (const [name, revocation] of written) {
        // A later revocation of the same user may have been added meanwhile.
        if (pending.get(name) === revocation) pending.delete(name)
      }
    },
    /** Call it before a comparison, and what it returns once that succeeded. */
    comparing() {
      const before = beyond
      return () => {
        beyond -= before
      }
    },
  }
}
