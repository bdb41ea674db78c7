import { Fault } from '../../kernel/errors.ts'
import type { Revocation, Revocations } from '../../token/revocations.ts'
import { createComparisonSchedule } from './comparison-schedule.ts'
import { createPendingRevocations } from './pending-revocations.ts'
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
export class RevocationSync {
  readonly #store: RevocationStore
  readonly #revocations: Revocations
  readonly #learn: (revocation: Revocation) => void
  readonly #schedule = createComparisonSchedule()
  readonly #pending = createPendingRevocations()
  /** What the store accepted from us and has not returned yet. */
  readonly #unseen = new Map<string, Revocation>()
  #position: Position | undefined
  /** False while following a list whose beginning was not read. */
  #isComplete = false

  constructor({ store, revocations, learn }: RevocationSyncParts) {
    this.#store = store
    this.#revocations = revocations
    this.#learn = learn
  }

  /** Reads what is new and writes what is pending. True when the list is known to be complete. */
  async run(afterFailure: boolean): Promise<boolean> {
    // A small request first: an unreachable or overloaded store is not asked for the whole list.
    await this.#follow()
    await this.#flush()
    if (afterFailure) this.compareSoon()
    if (this.#schedule.isDue()) await this.#compare()
    return this.#isComplete
  }

  compareSoon(): void {
    this.#schedule.soon(this.#size())
  }

  /** Writes one revocation; throws when the store does not take it, and then tries again later. */
  async append(revocation: Revocation): Promise<void> {
    try {
      await this.#store.append([revocation], 'before')
      this.#unseen.set(toRow(revocation).name, revocation)
    } catch (error) {
      this.addPending(revocation)
      throw error
    }
  }

  /** Writes them together as soon as the store is reachable. */
  addPending(...revocations: readonly Revocation[]): void {
    this.#pending.add(...revocations)
  }

  hasPending(): boolean {
    return !this.#pending.isEmpty()
  }

  /** Writes what is pending, one last time. */
  async finish(): Promise<void> {
    await this.#flush()
    if (this.hasPending()) await this.#compare()
  }

  #flush(): Promise<void> {
    return this.#pending.flush((kept) => this.#store.append(kept, 'before'))
  }

  #size(): number {
    const { tokens, users } = this.#revocations.size()
    return tokens + users
  }

  /** A list that replaced the one we followed is followed from its end, and compared soon. */
  async #follow(): Promise<void> {
    const expected = [...this.#unseen]
    const end = this.#position && (await this.#readFrom(this.#position))
    if (end === undefined) {
      // At the start the comparison is due at once.
      if (this.#position !== undefined) this.compareSoon()
      this.#isComplete = false
    }
    this.#position = end ?? (await this.#store.end())
    // A failover can lose what the store accepted.
    for (const [name, revocation] of expected) {
      if (!this.#unseen.delete(name)) continue
      this.#pending.add(revocation)
      this.compareSoon()
    }
  }

  async #compare(): Promise<void> {
    const done = this.#pending.comparing()
    this.#schedule.begun()
    try {
      for (let round = 0; !(await this.#compareOnce()); round++) {
        if (round === MAX_ROUNDS) {
          throw new Fault('revocations', { reason: 'the revocation list keeps changing' })
        }
      }
    } catch (error) {
      this.#schedule.failed(this.#size())
      throw error
    }
    done()
    this.#schedule.done()
  }

  /** Reads the whole list and writes back what it lacks. False when the list was replaced. */
  async #compareOnce(): Promise<boolean> {
    const stored = new Map<string, number>()
    const end = await this.#readFrom(undefined, stored)
    if (end === undefined) return false
    const lost = lostOf(this.#revocations.entries(), stored)
    for (const page of pagesOf(lost)) await this.#store.append(page, 'before')
    // An empty store has no list before something is added to it.
    if (lost.length > 0 && end.list === '') return false
    this.#position = end
    this.#isComplete = true
    return true
  }

  /** Returns the end of the list, or `undefined` when `from` belongs to another list. */
  async #readFrom(
    from: Position | undefined,
    stored?: Map<string, number>,
  ): Promise<Position | undefined> {
    let at = from
    for (;;) {
      const page = await this.#store.read(at)
      if (page === undefined) return undefined
      for (const revocation of page.revocations) {
        this.#learn(revocation)
        const { name, moment } = toRow(revocation)
        stored?.set(name, moment)
        this.#unseen.delete(name)
      }
      at = page.position
      if (!page.more) return at
    }
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
