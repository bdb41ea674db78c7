import { readFile, rm, stat, truncate, utimes } from 'node:fs/promises'
import type { FeedLog } from '../../background/feed-log.ts'
import { Fault } from '../../kernel/errors.ts'
import { createWriteFailures } from '../feed/write-failures.ts'
import { replaceFile } from '../files/replace-file.ts'
import type { Known, LargeOffer, Offer, PolicySnapshot } from './policy-source.ts'
import {
  formatSnapshot,
  type KeptOffer,
  parseSnapshot,
  readSnapshotHead,
  type SnapshotHead,
  type SnapshotIdentity,
} from './snapshot-text.ts'
import type { TrustGate } from './trust-gate.ts'

/** How often the time of the file is set to that of the last confirmation. */
const CONFIRM_MS = 15_000

/**
 * Keeps the last good policy in a file: replaced as a whole, readable by its owner only, with its
 * checksum in the first line. Its time is when the source last confirmed the policy in it. A file
 * that does not match its checksum is not used.
 *
 * The file must never bring a withdrawn policy back. So its time is renewed only while it holds the
 * live revision, a write that failed is retried until it succeeds, and a file that holds an older
 * revision meanwhile is removed: without Redis, a gateway that restarts then has no policy and
 * answers 503, instead of allowing what is no longer allowed. Removing it also frees space on a full
 * disk. A file that cannot even be removed keeps its old time, by which `policy.maxAge` is measured.
 *
 * A file that another program deleted, cut or replaced is written again. Its content is not kept in
 * memory for that: `isLost` asks for it.
 *
 * With a gate, only a file whose signatures it accepts is used: who may write to the disk must not
 * choose the policy.
 */
export function createPolicySnapshot(file: string, log: FeedLog, gate?: TrustGate): PolicySnapshot {
  const failures = createWriteFailures()
  /** What the file should hold, and what it is known to hold. */
  let live: SnapshotIdentity | undefined
  let held: SnapshotHead | undefined
  let waiting: Offer | LargeOffer | undefined
  let working: Promise<void> | undefined
  let confirmedAt = 0
  let isLost = false
  let isLossReported = false

  async function writeWaiting(): Promise<void> {
    while (waiting !== undefined) {
      const offer = waiting
      try {
        await put(offer)
        if (waiting === offer) waiting = undefined
      } catch (error) {
        const outdated = await discard(offer)
        // A newer one is written at once; the one that failed, after a pause.
        if (waiting !== offer) continue
        report(error, offer, outdated)
        if (await isWithoutContent(offer)) waiting = undefined
        break
      }
    }
    working = undefined
  }

  async function put(offer: Offer | LargeOffer): Promise<void> {
    const content = 'loading' in offer ? await offer.loading.snapshot : formatSnapshot(offer)
    // Another worker may be ahead of this one.
    const found = await readSnapshotHead(file)
    const isOvertaken = found !== undefined && isNewer(found, identityOf(offer))
    held = isOvertaken
      ? undefined
      : { ...identityOf(offer), bytes: (await replaceFile(file, content)).size }
    const hadFailed = failures.succeeded()
    if (isOvertaken || !(hadFailed || isLossReported)) return
    isLossReported = false
    log.info({ file, revision: offer.revision }, 'policy snapshot written')
  }

  /** Takes an older revision out of the way, and says what became of it. */
  async function discard(
    offer: Offer | LargeOffer,
  ): Promise<'removed' | 'emptied' | 'kept' | undefined> {
    held = undefined
    const found = await readSnapshotHead(file)
    const wanted = identityOf(offer)
    if (found === undefined || isSame(found, wanted) || isNewer(found, wanted)) return undefined
    try {
      await rm(file)
      return 'removed'
    } catch {
      // The directory may be read-only where the file is not.
      return truncate(file).then(
        () => 'emptied',
        () => 'kept',
      )
    }
  }

  function report(
    error: unknown,
    { revision }: SnapshotIdentity,
    outdated: string | undefined,
  ): void {
    const retryMs = failures.failed(error, start)
    if (!failures.isNew()) return
    const { lastError: reason } = failures.state()
    log.warn({ file, reason, revision, outdated, retryMs }, 'policy snapshot not written')
  }

  async function renew(): Promise<void> {
    const wasHeld = held !== undefined
    const found = await readSnapshotHead(file)
    // Cut short, it would still begin with the live revision.
    const isWhole = found?.bytes === (held?.bytes ?? found?.bytes)
    held = found !== undefined && isSame(found, live) && isWhole ? found : undefined
    isLost = held === undefined
    try {
      const time = new Date()
      if (held !== undefined) await utimes(file, time, time)
      else if (wasHeld) {
        const fields = { file, revision: live?.revision, found: found?.revision }
        log.warn(fields, 'policy snapshot does not hold the live revision')
        isLossReported = true
      }
    } catch (error) {
      log.warn({ file, reason: String(error) }, 'policy snapshot timestamp not updated')
    }
  }

  function start(): void {
    working ??= writeWaiting()
  }

  return {
    async read() {
      try {
        const { mtimeMs: confirmedAt, size: bytes } = await stat(file)
        const snapshot = parseSnapshot(await readFile(file, 'utf8'))
        if (snapshot !== undefined) {
          const offer = await accepted(snapshot, gate)
          live = identityOf(offer)
          held = { ...live, bytes }
          return { offer, confirmedAt }
        }
        log.warn({ file }, 'policy snapshot corrupted; ignoring it')
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
        if (error instanceof Fault) {
          log.warn({ file, reason: error.message }, 'policy snapshot rejected')
          return undefined
        }
        log.warn({ file, reason: String(error) }, 'policy snapshot unreadable')
      }
      return undefined
    },
    write(offer) {
      live = identityOf(offer)
      waiting = offer
      isLost = false
      confirmedAt = Date.now()
      start()
    },
    confirm() {
      if (live === undefined || waiting !== undefined || working !== undefined) return
      // A clock that was set back counts as time passed, or nothing would be renewed for as long.
      if (Math.abs(Date.now() - confirmedAt) < CONFIRM_MS) return
      confirmedAt = Date.now()
      working = renew().then(writeWaiting)
    },
    isLost: () => isLost,
    state: () => ({
      file,
      current: live === undefined ? undefined : isSame(live, held),
      ...failures.state(),
    }),
    async close() {
      failures.close()
      await working
      // Once more: what failed may have been fixed since.
      if (waiting !== undefined) await put(waiting).catch(() => {})
    },
  }
}

/** Whether the thread that was to make the content failed: writing it again would always fail. */
async function isWithoutContent(offer: Offer | LargeOffer): Promise<boolean> {
  if (!('loading' in offer)) return false
  return offer.loading.snapshot.then(
    () => false,
    () => true,
  )
}

/** What was kept, with its statement verified when a gate asks for that. Throws a Fault. */
async function accepted(
  { signed, ...offer }: KeptOffer,
  gate: TrustGate | undefined,
): Promise<Offer> {
  if (gate === undefined) return offer
  const verified = await gate.verify({ revision: offer.revision, signed })
  gate.checkDocument(verified, offer.checksum)
  return { ...offer, verified }
}

/** Not the offer itself: its files would stay in memory. */
function identityOf({ checksum, revision, sequence, verified }: Known): SnapshotIdentity {
  return {
    checksum,
    ...(revision !== undefined && { revision }),
    ...(sequence !== undefined && { sequence }),
    ...(verified !== undefined && { serial: verified.statement.serial }),
  }
}

function isSame(one: SnapshotIdentity, other: SnapshotIdentity | undefined): boolean {
  if (one.checksum !== other?.checksum || one.sequence !== other.sequence) return false
  return one.serial === other.serial
}

/** Signed policies have an order that Redis cannot choose: its sequences do not count for them. */
function isNewer(one: SnapshotIdentity, other: SnapshotIdentity): boolean {
  if (other.serial !== undefined) return (one.serial ?? 0) > other.serial
  return (one.sequence ?? 0) > (other.sequence ?? 0)
}
