import type { Log } from '../../log/log.ts'
import type { BegunLockout, LockoutRecord, LockoutRecords } from './lockout.ts'
import { sealLockout } from './sealed-lockout.ts'

interface LockoutRecorderParts {
  readonly records: LockoutRecords
  /** The same on every replica. */
  readonly sealKey: () => string
  /** Forgets a count in the memory of this process. */
  readonly forget: (key: string) => void
  readonly log: Log
  /** Milliseconds of a clock that is never set back. */
  readonly now?: () => number
  readonly pollMs?: number
}

interface Waiting extends LockoutRecord {
  readonly endsAt: number
}

/** Beyond this, the lock-out that began first goes unrecorded. */
const maxWaiting = 1000
const maxOpen = 10_000
const batchSize = 500
const longestPauseMs = 10_000

/**
 * Records lock-outs as they begin, so that operators can list and end them. Returns at once, and a
 * store that fails is retried in the background until the lock-out ends.
 *
 * While a count in this memory is locked out, and only then, it asks every second whether an operator
 * has ended the lock-out.
 */
export function createLockoutRecorder(parts: LockoutRecorderParts) {
  const { records, sealKey, forget, log, now = () => performance.now(), pollMs = 1000 } = parts
  /** By key: what the store does not have yet. */
  const waiting = new Map<string, Waiting>()
  /** By key: when the lock-outs end that an operator may end earlier. */
  const open = new Map<string, number>()
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined
  let failures = 0
  let closed = false
  let hasRecords = false

  function began(lockout: BegunLockout): void {
    if (closed) return
    const { key, kind, lockoutMs } = lockout
    const endsAt = now() + lockoutMs
    const sealed = sealLockout(sealKey(), lockout)
    put(waiting, key, { key, kind, sealed, leftMs: lockoutMs, endsAt }, maxWaiting)
    if (records.takeCleared !== undefined) put(open, key, endsAt, maxOpen)
    // While the store fails, the timer decides when to try again.
    if (failures === 0) start()
    else schedule()
  }

  async function write(): Promise<void> {
    while (waiting.size > 0 && !closed) {
      const batch = [...waiting.values()].slice(0, batchSize)
      hasRecords = true
      await records.add(
        batch.map(({ endsAt, ...record }) => ({ ...record, leftMs: Math.ceil(endsAt - now()) })),
      )
      for (const record of batch) {
        if (waiting.get(record.key) === record) waiting.delete(record.key)
      }
    }
  }

  async function turn(): Promise<void> {
    for (const [key, { endsAt }] of waiting) if (endsAt <= now()) waiting.delete(key)
    for (const [key, endsAt] of open) if (endsAt <= now()) open.delete(key)
    // Without a question, the store has not said that it is back.
    if (waiting.size === 0 && open.size === 0) return
    try {
      await write()
      if (open.size > 0) {
        await records.takeCleared?.((key) => {
          open.delete(key)
          forget(key)
        })
      }
      if (failures > 0) log.info('login lock-outs are recorded again')
      failures = 0
    } catch (error) {
      if (failures++ > 0) return
      log.warn({ err: error }, 'login lock-outs not recorded: operators cannot list or end them')
    }
  }

  function start(): void {
    clearTimeout(timer)
    timer = undefined
    running ??= turn().finally(() => {
      running = undefined
      schedule()
    })
  }

  function schedule(): void {
    if (closed || timer !== undefined || (waiting.size === 0 && open.size === 0)) return
    const pauseMs = Math.min(pollMs * 2 ** Math.min(failures, 10), Math.max(longestPauseMs, pollMs))
    timer = setTimeout(start, pauseMs).unref()
  }

  async function leave(): Promise<void> {
    await running
    // Left behind, they are listed until they end.
    if (hasRecords) await records.leave?.().catch(() => {})
  }

  return {
    began,
    /** Removes what this process recorded, for at most `deadlineMs`. */
    async close(deadlineMs: number): Promise<void> {
      closed = true
      clearTimeout(timer)
      const { promise: deadline, resolve } = Promise.withResolvers<void>()
      const late = setTimeout(resolve, deadlineMs)
      await Promise.race([leave(), deadline])
      clearTimeout(late)
    },
  }
}

/** Sets a value as the newest; the oldest makes room. */
function put<Value>(map: Map<string, Value>, key: string, value: Value, most: number): void {
  map.delete(key)
  for (const oldest of map.keys()) {
    if (map.size < most) break
    map.delete(oldest)
  }
  map.set(key, value)
}
