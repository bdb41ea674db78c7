import { Fault } from '../../kernel/errors.ts'
import type { Revocation, Revocations } from '../../token/revocations.ts'
import { createComparisonSchedule } from './comparison-schedule.ts'
import { PAGE, type Position, type RevocationStore, toRow } from './revocation-store.ts'

const MAX_ROUNDS = 3

interface RevocationSyncParts {
  readonly store: RevocationStore
  readonly revocations: Revocations
  /** Called with every revocation that is read. */
  readonly learn: (revocation: Revocation) => void
}

/**
 * Brings the list in memory and the list in the store together. The store never removes anything
 * from memory; entries that it lost are written back.
 *
 * Reading on from a position is not enough after a failure: a store that fell back to an older state
 * may have used sequences below that position again. So both lists are compared as a whole then, and
 * every few minutes.
 */
export function createRevocationSync({ store, revocations, learn }: RevocationSyncParts) {
  const schedule = createComparisonSchedule()
  const pending = createPendingRevocations()
  /** What the store accepted from us and has not returned yet. */
  const unseen = new Map<string, Revocation>()
  let position: Position | undefined
  /** False while following a list whose beginning was not read. */
  let isComplete = false

  const flush = () => pending.flush((entries) => store.append(entries, 'before'))
  const hasPending = () => !pending.isEmpty()

  function size(): number {
    const { tokens, users } = revocations.size()
    return tokens + users
  }

  function compareSoon(): void {
    schedule.soon(size())
  }

  /** A list that replaced the one we followed is followed from its end, and compared soon. */
  async function follow(): Promise<void> {
    const expected = [...unseen]
    const end = position && (await readFrom(position))
    if (end === undefined) {
      // At the start the comparison is due at once.
      if (position !== undefined) compareSoon()
      isComplete = false
    }
    position = end ?? (await store.end())
    // A failover can lose what the store accepted.
    for (const [name, revocation] of expected) {
      if (!unseen.delete(name)) continue
      pending.add(revocation)
      compareSoon()
    }
  }

  async function compare(): Promise<void> {
    const done = pending.comparing()
    schedule.begun()
    try {
      for (let round = 0; !(await compareOnce()); round++) {
        if (round === MAX_ROUNDS) {
          throw new Fault('revocations', { reason: 'the revocation list keeps changing' })
        }
      }
    } catch (error) {
      schedule.failed(size())
      throw error
    }
    done()
    schedule.done()
  }

  /** Reads the whole list and writes back what it lacks. False when the list was replaced. */
  async function compareOnce(): Promise<boolean> {
    const stored = new Map<string, number>()
    const end = await readFrom(undefined, stored)
    if (end === undefined) return false
    const lost = lostOf(revocations.entries(), stored)
    for (const page of pagesOf(lost)) await store.append(page, 'before')
    // An empty store has no list before something is added to it.
    if (lost.length > 0 && end.list === '') return false
    position = end
    isComplete = true
    return true
  }

  /** Returns the end of the list, or `undefined` when `from` belongs to another list. */
  async function readFrom(
    from: Position | undefined,
    stored?: Map<string, number>,
  ): Promise<Position | undefined> {
    let at = from
    for (;;) {
      const page = await store.read(at)
      if (page === undefined) return undefined
      for (const revocation of page.revocations) {
        learn(revocation)
        const { name, moment } = toRow(revocation)
        stored?.set(name, moment)
        unseen.delete(name)
      }
      at = page.position
      if (!page.more) return at
    }
  }

  return {
    /** Reads what is new and writes what is pending. True when the list is known to be complete. */
    async run(afterFailure: boolean) {
      // A small request first: an unreachable or overloaded store is not asked for the whole list.
      await follow()
      await flush()
      if (afterFailure) compareSoon()
      if (schedule.isDue()) await compare()
      return isComplete
    },
    compareSoon,
    /** Writes one revocation; throws when the store does not take it, and then tries again later. */
    async append(revocation: Revocation) {
      try {
        await store.append([revocation], 'before')
        unseen.set(toRow(revocation).name, revocation)
      } catch (error) {
        pending.add(revocation)
        throw error
      }
    },
    /** Writes them together as soon as the store is reachable. */
    addPending: pending.add,
    hasPending,
    /** Writes what is pending, one last time. */
    async finish() {
      await flush()
      if (hasPending()) await compare()
    },
  }
}

/** An exception is written together with its mark, which follows it. */
function lostOf(
  entries: readonly Revocation[],
  stored: ReadonlyMap<string, number>,
): readonly Revocation[] {
  function isLost(revocation: Revocation | undefined): boolean {
    if (revocation === undefined) return false
    const { name, moment } = toRow(revocation)
    return (stored.get(name) ?? -1) < moment
  }
  return entries.filter((entry, at) => {
    const previous = entries[at - 1]
    return isLost(entry) || (previous?.kind === 'kept' && isLost(previous))
  })
}

/** Pages of at most `PAGE`, none of which ends between an exception and its mark. */
function* pagesOf(revocations: readonly Revocation[]): Generator<readonly Revocation[]> {
  for (let at = 0; at < revocations.length; ) {
    const page = revocations.slice(at, at + PAGE)
    if (page.at(-1)?.kind === 'kept') page.pop()
    at += page.length
    yield page
  }
}

/**
 * Revocations made here that the store lacks. One write can carry `PAGE` of them; the rest wait for
 * the next comparison of the whole list.
 */
function createPendingRevocations() {
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
