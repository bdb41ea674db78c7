import { BoundedQueue } from '../../background/bounded-queue.ts'
import { createOutbox } from '../../background/outbox.ts'
import type { Log } from '../../log/log.ts'
import type { BegunLockout, LockoutRecord, LockoutRecords } from './lockout.ts'
import { sealLockout } from './sealed-lockout.ts'

interface LockoutRecorderParts {
  readonly records: LockoutRecords
  /** Equal on every replica. */
  readonly sealKey: () => string
  /** Forgets a count in the memory of this process. */
  readonly forget: (key: string) => void
  readonly log: Log
  /** Milliseconds of a clock that is never set back. */
  readonly now?: () => number
  readonly pollMs?: number
}

interface Ending {
  readonly key: string
  readonly endsAt: number
}

/** Beyond this, the lock-out that began first goes unrecorded. */
const maxWaiting = 1000
const maxOpen = 10_000
const batchSize = 500

/**
 * Records lock-outs as they begin, so that operators can list and end them. Returns at once, and a
 * store that fails is retried in the background until the lock-out ends.
 *
 * While a count in this memory is locked out, and only then, it asks every second whether an operator
 * has ended the lock-out.
 */
export function createLockoutRecorder(parts: LockoutRecorderParts) {
  const { records, sealKey, forget, log, now = () => performance.now(), pollMs = 1000 } = parts
  const keyed = { drops: 'oldest', keyOf: ({ key }: Ending) => key } as const
  /** What the store does not have yet. */
  const queue = new BoundedQueue<LockoutRecord & Ending>({ most: maxWaiting, batchSize, ...keyed })
  /** The lock-outs that an operator may end earlier. */
  const open = new BoundedQueue<Ending>({ most: maxOpen, ...keyed })
  let hasRecords = false

  async function add(batch: readonly (LockoutRecord & Ending)[]): Promise<void> {
    hasRecords = true
    await records.add(
      batch.map(({ endsAt, ...record }) => ({ ...record, leftMs: Math.ceil(endsAt - now()) })),
    )
  }

  function forgetEnded(): void {
    for (const { waiting } of [queue, open]) {
      for (const [key, { endsAt }] of waiting) if (endsAt <= now()) waiting.delete(key)
    }
  }

  const outbox = createOutbox({
    async deliver({ isLast }) {
      forgetEnded()
      // Without a question, the store has not said that it is back.
      if (isLast || queue.waiting.size + open.waiting.size === 0) return 'idle'
      await queue.drain(add)
      if (open.waiting.size > 0) {
        await records.takeCleared?.((key) => {
          open.waiting.delete(key)
          forget(key)
        })
      }
      return undefined
    },
    everyMs: pollMs,
    log,
    failed: 'login lock-outs not recorded: operators cannot list or end them',
    recovered: 'login lock-outs are recorded again',
    fieldsOf: (error) => ({ err: error }),
    // Left behind, they are listed until they end.
    leave: async () => hasRecords && records.leave?.(),
  })

  return {
    began(lockout: BegunLockout): void {
      const { key, kind, lockoutMs } = lockout
      const endsAt = now() + lockoutMs
      const sealed = sealLockout(sealKey(), lockout)
      queue.add({ key, kind, sealed, leftMs: lockoutMs, endsAt })
      if (records.takeCleared !== undefined) open.add({ key, endsAt })
      outbox.wake()
    },
    /** Removes what this process recorded, for at most `deadlineMs`. */
    close: outbox.close,
  }
}
