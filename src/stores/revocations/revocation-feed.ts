import { Fault } from '../../errors.ts'
import type { Revocation, Revocations } from '../../token/revocations.ts'
import { createConfirmation } from '../feed/confirmation.ts'
import { createPolling } from '../feed/polling.ts'
import { createComparisonSchedule } from './comparison-schedule.ts'
import { createPendingRevocations } from './pending-revocations.ts'
import type { RevocationSnapshot } from './revocation-snapshot.ts'
import type { RevocationSettings, RevocationState } from './revocation-state.ts'
import { PAGE, type Position, type RevocationStore, toRow } from './revocation-store.ts'

export type { RevocationSettings, RevocationState } from './revocation-state.ts'

/**
 * Keeps the list in memory and the one in a store the same. Nothing is ever taken off the one in
 * memory by the store: what a store lost is written back to it. Its states:
 *
 * - comparing: the whole list is read, and what only this replica knows is added to it. So it is at
 *   the start, every few minutes, and within seconds, at a random time, after any failure or new
 *   connection and when the store has another list. Reading on from a place alone is not enough then:
 *   a store that fell back to an older state may have given out sequences below that place again.
 * - following: at every message, and at the latest at every poll, what is new is read.
 * - failing: the last attempt failed. What is known goes on to be known. Left by an attempt that
 *   succeeds: it goes on from where it was, so that a fleet does not read everything at once.
 * - stale: no attempt has succeeded for longer than `maxAgeMs`. Left likewise.
 */
export interface RevocationFeed {
  /** The first attempt; then goes on by itself. Does not throw. */
  readonly start: () => Promise<void>
  /** Ends it here at once, and says whether the store took it; if not, it will be told again. */
  readonly end: (revocation: Revocation) => Promise<'everywhere' | 'here'>
  readonly state: () => RevocationState
  readonly close: () => Promise<void>
}

export interface RevocationFeedParts extends RevocationSettings {
  readonly store: RevocationStore
  readonly revocations: Revocations
  readonly log: {
    info(fields: object, text: string): void
    warn(fields: object, text: string): void
  }
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Where the list outlives this process, if the store is not on this machine. */
  readonly keep?: RevocationSnapshot | undefined
}

/** A lost message costs this long at most, and what an answer takes: below a second even so. */
const POLL_MS = 500
const MAX_ROUNDS = 3

export function createRevocationFeed(parts: RevocationFeedParts): RevocationFeed {
  const { store, revocations, log, maxAgeMs, whenStale, now, keep } = parts
  const polling = createPolling(attempt, POLL_MS)
  const comparison = createComparisonSchedule()
  const unsaid = createPendingRevocations()
  let place: Position | undefined
  /** Whether everything up to `place` was read; not so in a list that replaced the one we followed. */
  let isWhole = false
  /** What the store took from us and has not given back yet. */
  const told = new Map<string, Revocation>()
  const confirmed = createConfirmation()
  let failure: string | undefined
  let stale = false

  async function attempt(): Promise<void> {
    try {
      // First something small: a store that is away, or overloaded, is not asked for the whole list.
      await followUp()
      await tell()
      if (failure !== undefined) compareSoon()
      if (comparison.isDue()) await compare()
      if (isWhole) succeeded()
    } catch (error) {
      failed(error)
    }
    judge()
    await store.check()
  }

  function tell(): Promise<void> {
    return unsaid.tell((kept) => store.append(kept, 'before'))
  }

  function compareSoon(): void {
    const { tokens, users } = revocations.size()
    comparison.soon(tokens + users)
  }

  async function compare(): Promise<void> {
    const said = unsaid.compared()
    comparison.begun()
    try {
      for (let turn = 0; !(await compareOnce()); turn++) {
        if (turn === MAX_ROUNDS) {
          throw new Fault('revocations', { reason: 'the revocation list keeps changing' })
        }
      }
    } catch (error) {
      const { tokens, users } = revocations.size()
      comparison.failed(tokens + users)
      throw error
    }
    said()
    comparison.done()
  }

  /** Reads the whole list and adds what only this replica knows. False when the list was replaced. */
  async function compareOnce(): Promise<boolean> {
    const stored = new Map<string, number>()
    const end = await readOn(undefined, stored)
    if (end === undefined) return false
    const lost = revocations.entries().filter((revocation) => {
      const { name, moment } = toRow(revocation)
      return (stored.get(name) ?? -1) < moment
    })
    for (let at = 0; at < lost.length; at += PAGE) {
      await store.append(lost.slice(at, at + PAGE), 'before')
    }
    // An empty store has no list before something is added to it.
    if (lost.length > 0 && end.list === '') return false
    place = end
    isWhole = true
    return true
  }

  /**
   * Reads what is new. A list that replaced the one we followed is followed from its end, and
   * compared soon. A store that lost what it took from us, as in a failover, gets it again.
   */
  async function followUp(): Promise<void> {
    const expected = [...told]
    const end = place && (await readOn(place))
    if (end === undefined) {
      // At the start the comparison is due at once.
      if (place !== undefined) compareSoon()
      isWhole = false
      place = await store.end()
    } else place = end
    for (const [name, revocation] of expected) {
      if (!told.delete(name)) continue
      unsaid.add(revocation)
      compareSoon()
    }
  }

  /** Reads on from a place to the end, which it answers; `undefined` when that place is not in the list. */
  async function readOn(
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
        told.delete(name)
      }
      at = page.place
      if (!page.more) return at
    }
  }

  function learn(revocation: Revocation): void {
    const isNew = revocation.until > now() && !revocations.has(revocation)
    revocations.add(revocation)
    if (isNew) keep?.add(revocation)
  }

  function succeeded(): void {
    confirmed.confirm()
    keep?.confirm()
    if (failure !== undefined) {
      log.info({ ...revocations.size() }, 'revocation list recovered')
    }
    failure = undefined
  }

  function failed(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error)
    if (failure === undefined) {
      log.warn({ reason }, 'revocation list update failed; keeping the known revocations')
    }
    failure = reason
  }

  function reportStart(isKept: boolean): void {
    const fields = { ageSeconds: ageSeconds(), ...revocations.size(), whenStale }
    const text = isKept
      ? 'started from the revocation snapshot'
      : 'started without a revocation list; revoked tokens are unknown'
    log.warn(fields, text)
  }

  function ageMs(): number {
    return confirmed.ageMs() ?? Number.POSITIVE_INFINITY
  }

  function judge(): void {
    const wasStale = stale
    stale = ageMs() > maxAgeMs
    if (stale === wasStale) return
    if (whenStale === 'refuse') revocations.closeUpTo(stale ? now() : 0)
    if (!stale) return
    const fields = { ageSeconds: ageSeconds(), reason: failure, whenStale }
    log.warn(fields, 'revocation list older than revocation.maxAgeMs')
  }

  function ageSeconds(): number | undefined {
    const age = confirmed.ageMs()
    return age === undefined ? undefined : Math.round(age / 100) / 10
  }

  return {
    async start() {
      const kept = await keep?.read()
      for (const revocation of kept?.revocations ?? []) revocations.add(revocation)
      if (kept?.confirmedAt !== undefined) confirmed.confirm(kept.confirmedAt)
      store.watch({
        onHint: () => void polling.now(),
        onReconnect() {
          // It may be another server, or the same one with less in it.
          compareSoon()
          void polling.now()
        },
      })
      await polling.now()
      if (failure !== undefined) reportStart(kept !== undefined)
    },
    async end(revocation) {
      learn(revocation)
      try {
        await store.append([revocation], 'before')
        told.set(toRow(revocation).name, revocation)
        return 'everywhere'
      } catch {
        // Why it failed shows at the next attempt.
        unsaid.add(revocation)
        await keep?.written()
        return 'here'
      }
    },
    state: () => ({
      source: store.name,
      ...revocations.size(),
      ageSeconds: ageSeconds(),
      stale,
      whenStale,
      unsaid: !unsaid.isEmpty(),
      lastError: failure,
      snapshot: keep?.state(),
    }),
    async close() {
      await polling.close()
      await tell()
        .then(() => (unsaid.isEmpty() ? undefined : compare()))
        .catch(failed)
      await keep?.close()
      await store.close()
    },
  }
}
