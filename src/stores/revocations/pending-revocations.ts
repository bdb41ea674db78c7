import type { Revocation } from '../../token/revocations.ts'
import { PAGE, toRow } from './revocation-store.ts'

/**
 * What ended here and the store does not have yet. As many as one writing carries are kept, and told
 * as soon as the store answers; those beyond that wait for the comparison of the whole list.
 */
interface PendingRevocations {
  readonly isEmpty: () => boolean
  readonly add: (revocation: Revocation) => void
  /** Hands over those that are kept, and forgets them once they are told. */
  readonly tell: (append: (revocations: readonly Revocation[]) => Promise<void>) => Promise<void>
  /** To be called before a comparison; what comes back is to be called when that succeeded. */
  readonly compared: () => () => void
}

export function createPendingRevocations(): PendingRevocations {
  const kept = new Map<string, Revocation>()
  let beyond = 0
  return {
    isEmpty: () => kept.size === 0 && beyond === 0,
    add(revocation) {
      const { name } = toRow(revocation)
      if (kept.size < PAGE || kept.has(name)) kept.set(name, revocation)
      else beyond++
    },
    async tell(append) {
      if (kept.size === 0) return
      const told = [...kept]
      await append(told.map(([, revocation]) => revocation))
      // A later mark on the same user may have come in the meantime.
      for (const [name, revocation] of told) if (kept.get(name) === revocation) kept.delete(name)
    },
    compared() {
      const before = beyond
      return () => {
        beyond -= before
      }
    },
  }
}
