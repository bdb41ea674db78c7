import { failureText } from '../../background/failure-text.ts'
import type { FeedLog } from '../../background/feed-log.ts'
import { createPolling } from '../../background/polling.ts'
import type { Revocation, Revocations } from '../../token/revocations.ts'
import { keptFrom, type VerifiedToken } from '../../token/tokens.ts'
import type { UserRevocation } from '../../token/user-marks.ts'
import { createConfirmation } from '../feed/confirmation.ts'
import type { RevocationSnapshot } from './revocation-snapshot.ts'
import type { RevocationStore } from './revocation-store.ts'
import { createRevocationSync } from './revocation-sync.ts'

export interface RevocationSettings {
  /** For how long the list may go unconfirmed. */
  readonly maxAgeMs: number
  /** Then: keep serving, or answer 503 to tokens that the list says nothing about. */
  readonly whenStale: 'serve' | 'refuse'
}

/**
 * Keeps the list of revoked tokens in memory up to date with a store:
 *
 *   following   reads what is new at every message, and at every poll
 *   failing     the last attempt failed; known revocations stay known
 *   stale       no attempt has succeeded for longer than `maxAgeMs`
 *
 * A successful attempt leads back to following, from the same position: a fleet that reconnects must
 * not read the whole list at once. `revocation-sync.ts` compares it a little later.
 */
export type RevocationFeed = ReturnType<typeof createRevocationFeed>

export interface RevocationFeedParts extends RevocationSettings {
  readonly store: RevocationStore
  readonly revocations: Revocations
  readonly log: FeedLog
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Absent when the store is on this machine. */
  readonly snapshot?: RevocationSnapshot | undefined
}

/** Even if a message is lost, a revocation arrives in less than a second. */
const POLL_MS = 500

export function createRevocationFeed(parts: RevocationFeedParts) {
  const { store, revocations, log, maxAgeMs, whenStale, now, snapshot } = parts
  const sync = createRevocationSync({ store, revocations, learn })
  const polling = createPolling(attempt, POLL_MS)
  const confirmed = createConfirmation()
  let failure: string | undefined
  let stale = false

  async function attempt(): Promise<void> {
    try {
      if (await sync.run(failure !== undefined)) succeeded()
    } catch (error) {
      failed(error)
    }
    updateStale()
    await store.check()
  }

  function learn(revocation: Revocation): void {
    const isNew = revocation.until > now() && !revocations.has(revocation)
    revocations.add(revocation)
    if (isNew) snapshot?.add(revocation)
  }

  function succeeded(): void {
    confirmed.confirm()
    snapshot?.confirm()
    if (failure !== undefined) log.info({ ...revocations.size() }, 'revocation list recovered')
    failure = undefined
  }

  function failed(error: unknown): void {
    const reason = failureText(error)
    if (failure === undefined) {
      log.warn({ reason }, 'revocation list update failed; keeping the known revocations')
    }
    failure = reason
  }

  function updateStale(): void {
    const wasStale = stale
    stale = (confirmed.ageMs() ?? Number.POSITIVE_INFINITY) > maxAgeMs
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

  async function readSnapshot(): Promise<boolean> {
    const stored = await snapshot?.read()
    for (const revocation of stored?.revocations ?? []) revocations.add(revocation)
    if (stored?.confirmedAt !== undefined) confirmed.confirm(stored.confirmedAt)
    return stored !== undefined
  }

  return {
    /** The first attempt; then goes on by itself. Does not throw. */
    async start() {
      const hasSnapshot = await readSnapshot()
      store.watch({
        onHint: () => void polling.now(),
        onReconnect() {
          // It may be another server, or the same one with less data.
          sync.compareSoon()
          void polling.now()
        },
      })
      await polling.now()
      if (failure === undefined) return
      const fields = { ageSeconds: ageSeconds(), ...revocations.size(), whenStale }
      const text = hasSnapshot
        ? 'started from the revocation snapshot'
        : 'started without a revocation list; revoked tokens are unknown'
      log.warn(fields, text)
    },
    /** Revokes here at once. `here`: the store was unreachable and gets it later. */
    async revoke(revocation: Revocation) {
      learn(revocation)
      try {
        await sync.append(revocation)
        return 'everywhere'
      } catch {
        // The next attempt reports the reason.
        await snapshot?.written()
        return 'here'
      }
    },
    /** Revokes all tokens of a user up to now, by the clock of the store, except one. */
    async revokeUser(revocation: UserRevocation, except?: VerifiedToken) {
      const kept = except === undefined ? [] : [keptFrom(revocation, except)]
      const entries = [...kept, revocation]
      try {
        await store.append(entries, 'now')
        // Brings back the moment that the store chose.
        await polling.now()
        return 'everywhere'
      } catch {
        for (const entry of entries) learn(entry)
        sync.addPending(...entries)
        await snapshot?.written()
        return 'here'
      }
    },
    /** Shown by `/readyz?verbose`. */
    state: () => ({
      source: store.name,
      ...revocations.size(),
      /** Seconds since the store last confirmed the list; absent when it never did. */
      ageSeconds: ageSeconds(),
      stale,
      whenStale,
      /** Whether the store lacks a revocation made here. */
      pendingWrites: sync.hasPending(),
      lastError: failure,
      snapshot: snapshot?.state(),
    }),
    async close() {
      await polling.close()
      await sync.finish().catch(failed)
      await snapshot?.close()
      await store.close()
    },
  }
}
