import { Fault } from '../errors.ts'
import type { Revocation, Revocations } from '../token/revocations.ts'
import { createConfirmation } from './confirmation.ts'
import { createPolling } from './polling.ts'
import type { RevocationKeep } from './revocation-snapshot.ts'
import { PAGE, type Place, type RevocationStore, toRow } from './revocation-store.ts'
import type { SnapshotState } from './write-failures.ts'

export interface RevocationSettings {
  /** For how long the list may go unconfirmed. */
  readonly maxAgeMs: number
  /** What then: go on with what is known, or answer 503 to the tokens it can say nothing about. */
  readonly whenStale: 'serve' | 'refuse'
}

/** What operators see of the list. */
export interface RevocationState {
  readonly source: RevocationStore['name']
  readonly tokens: number
  readonly users: number
  /** Seconds since the store last confirmed the list; absent when it never did. */
  readonly ageSeconds: number | undefined
  readonly stale: boolean
  readonly whenStale: RevocationSettings['whenStale']
  /** Whether something ended here that the store does not know yet. */
  readonly unsaid: boolean
  readonly lastError: string | undefined
  /** The file that a restart without the store begins with, if there is one. */
  readonly snapshot: SnapshotState | undefined
}

/**
 * Keeps the list in memory and the one in a store the same. Nothing is ever taken off the one in
 * memory by the store: what a store lost is written back to it. Its states:
 *
 * - beginning: the whole list is read, and what only this replica knows is added to it. So it is at
 *   the start, after any failure, when the store has a new list, and every few minutes.
 * - following: at every message, and at the latest at every poll, what is new is read.
 * - failing: the last attempt failed. What is known goes on to be known. Left by an attempt that
 *   succeeds, for `beginning`.
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
  readonly keep?: RevocationKeep | undefined
}

/** A lost message costs this long at most, and what an answer takes: below a second even so. */
const POLL_MS = 500
const BEGIN_AGAIN_MS = 300_000
/**
 * After a failure the whole list is compared within this time, at random: a thousand gateways that
 * all read it in the moment Redis is back would keep it from answering any of them.
 */
const COMPARE_WITHIN_MS = 5000
const MOST_BEGINNINGS = 3

export function createRevocationFeed(parts: RevocationFeedParts): RevocationFeed {
  const { store, revocations, log, maxAgeMs, whenStale, now, keep } = parts
  const polling = createPolling(attempt, POLL_MS)
  let place: Place | undefined
  let unsaid = false
  /** Whether what was unsaid is being told now. */
  let telling = false
  /** What the store took from us and has not given back yet. */
  const told = new Set<string>()
  const confirmed = createConfirmation()
  let beginAgainAt = Number.NEGATIVE_INFINITY
  let failure: string | undefined
  let stale = false

  async function attempt(): Promise<void> {
    try {
      if (place === undefined || unsaid || performance.now() >= beginAgainAt) {
        await begin()
      } else if (!(await followUp(place))) await begin()
      succeeded()
    } catch (error) {
      failed(error)
    }
    judge()
    await store.check()
  }

  async function begin(): Promise<void> {
    // What ends here while the store is being told is unsaid again.
    telling = unsaid
    unsaid = false
    const before = place
    try {
      await readAndTell()
    } catch (error) {
      unsaid ||= telling
      place = before
      throw error
    } finally {
      telling = false
    }
  }

  async function readAndTell(): Promise<void> {
    place = undefined
    for (let turn = 0; turn < MOST_BEGINNINGS && place === undefined; turn++) {
      const stored = new Map<string, number>()
      if (!(await follow(undefined, stored))) continue
      const lost = revocations.entries().filter((revocation) => {
        const { name, moment } = toRow(revocation)
        return (stored.get(name) ?? -1) < moment
      })
      for (let at = 0; at < lost.length; at += PAGE) {
        await store.append(lost.slice(at, at + PAGE), 'before')
      }
    }
    if (place === undefined) throw new Fault('revocations', { reason: 'the list keeps changing' })
    beginAgainAt = performance.now() + BEGIN_AGAIN_MS * (0.5 + Math.random() / 2)
  }

  /** False also when the store has lost what it took: a failover can leave it without the last of it. */
  async function followUp(from: Place): Promise<boolean> {
    const expected = [...told]
    const found = (await follow(from)) && !expected.some((name) => told.has(name))
    for (const name of expected) told.delete(name)
    return found
  }

  /** Reads on from a place to the end. False when that place is not in the list. */
  async function follow(from: Place | undefined, stored?: Map<string, number>): Promise<boolean> {
    let at = from
    for (;;) {
      const page = await store.read(at)
      if (page === undefined) {
        place = undefined
        return false
      }
      for (const revocation of page.revocations) {
        learn(revocation)
        const { name, moment } = toRow(revocation)
        stored?.set(name, moment)
        told.delete(name)
      }
      at = page.place
      if (!page.more) break
    }
    place = at
    return true
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
      const soon = performance.now() + Math.random() * COMPARE_WITHIN_MS
      beginAgainAt = Math.min(beginAgainAt, soon)
      log.info({ ...revocations.size() }, 'the list of ended tokens is up to date again')
    }
    failure = undefined
  }

  function failed(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error)
    if (failure === undefined) {
      log.warn({ reason }, 'the list of ended tokens cannot be read; what is known stays known')
    }
    failure = reason
  }

  function reportStart(isKept: boolean): void {
    const fields = { ageSeconds: ageSeconds(), ...revocations.size(), whenStale }
    const text = isKept
      ? 'started on the revocation snapshot'
      : 'started without a revocation list: revoked tokens are not known'
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
    log.warn(fields, 'the list of ended tokens is older than revocation.maxAgeMs')
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
      store.watch(() => void polling.now())
      await polling.now()
      if (failure !== undefined) reportStart(kept !== undefined)
    },
    async end(revocation) {
      learn(revocation)
      try {
        await store.append([revocation], 'before')
        told.add(toRow(revocation).name)
        return 'everywhere'
      } catch {
        // The next attempt finds that the store lacks it. Why it failed shows there too.
        unsaid = true
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
      unsaid: unsaid || telling,
      lastError: failure,
      snapshot: keep?.state(),
    }),
    async close() {
      await polling.close()
      if (unsaid) await begin().catch((error) => failed(error))
      await keep?.close()
      await store.close()
    },
  }
}
