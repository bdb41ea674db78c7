import { readFile } from 'node:fs/promises'
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import type { FeedLog } from '../../background/feed-log.ts'
import type { Revocation, Revocations } from '../../token/revocations.ts'
import { createWriteFailures, type SnapshotState } from '../feed/write-failures.ts'
import { type FileState, replaceFile } from '../files/replace-file.ts'
import { appendTo, findFiles, ownFile, type SnapshotLocation } from './revocation-files.ts'
import {
  confirmationLine,
  parseRevocationLines,
  type RevocationLines,
  revocationLine,
} from './revocation-lines.ts'

/** The list of revoked tokens, kept where a restart without its store finds it. Nothing here throws. */
export type RevocationSnapshot = ReturnType<typeof createRevocationSnapshot>

interface RevocationSnapshotParts extends SnapshotLocation {
  readonly revocations: Pick<Revocations, 'entries' | 'add'>
  readonly log: FeedLog
}

/** However many tokens are revoked in a second, the disk is waited for so often at most. */
const WRITE_MS = 250
/** How often a confirmation is written while nothing else is. */
const CONFIRM_MS = 15_000
/** The file is written as a whole when it has grown to twice its size and by so many bytes. */
const GROWTH_BYTES = 1_048_576
/** Lines made in one turn of the event loop: a long list must not hold up requests. */
const SLICE = 500
/** Writing a long list as a whole takes this share of the time at most. */
const WHOLE_SHARE = 0.05
/** A disk that hangs must not hold up a logout for longer. */
const MAX_WAIT_MS = 1000

/**
 * Appends what is new, at most every 250 ms, and writes the file as a whole at first, after any
 * failure, and when it has grown. A crash can lose what was added in the last 250 ms, and what the
 * disk takes.
 */
export function createRevocationSnapshot(parts: RevocationSnapshotParts) {
  const { revocations, log } = parts
  const file = ownFile(parts)
  const failures = createWriteFailures()
  let pending: string[] = []
  let confirmedAt: number | undefined
  let confirmationWrittenAt = Number.NEGATIVE_INFINITY
  /** The file as it was left here, while it holds all but what is pending. */
  let left: { readonly whole: FileState; now: FileState } | undefined
  let working: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  let nextAt = 0
  let nextWholeAt = 0
  let isTried = false
  let isShared = false
  let isClosed = false

  function schedule(): void {
    if (timer !== undefined || working !== undefined || isClosed) return
    timer = setTimeout(start, Math.max(0, nextAt - performance.now()))
    timer.unref()
  }

  function start(): void {
    clearTimeout(timer)
    timer = undefined
    working ??= write().finally(() => {
      working = undefined
      if (pending.length > 0 || left === undefined) schedule()
    })
  }

  async function write(): Promise<void> {
    nextAt = performance.now() + WRITE_MS
    isTried = true
    try {
      if (left === undefined || isGrown(left)) await writeWhole()
      else await append(left)
      if (failures.succeeded()) log.info({ file }, 'revocation snapshot written')
    } catch (error) {
      left = undefined
      const retryMs = failures.failed(error, schedule)
      nextAt = performance.now() + retryMs
      const { lastError: reason } = failures.state()
      if (failures.isNew()) log.warn({ file, reason, retryMs }, 'revocation snapshot not written')
    }
  }

  function isGrown({ whole, now }: NonNullable<typeof left>): boolean {
    return now.size > 2 * whole.size + GROWTH_BYTES && performance.now() >= nextWholeAt
  }

  async function append(known: NonNullable<typeof left>): Promise<void> {
    const now = await appendTo(file, take() + confirmation(), known.now)
    left = now && { ...known, now }
    if (left !== undefined) return
    if (!isShared) log.warn({ file }, 'revocation snapshot changed by another process')
    isShared = true
    // Two gateways that share a long list must not spend their time writing it.
    if (performance.now() >= nextWholeAt || isClosed) await writeWhole()
    else nextAt = nextWholeAt
  }

  async function writeWhole(): Promise<void> {
    const begun = performance.now()
    if (isShared) await learnFromFile()
    take()
    const entries = revocations.entries()
    const last = confirmation()
    const texts: string[] = []
    for (let at = 0; at < entries.length; at += SLICE) {
      texts.push(
        entries
          .slice(at, at + SLICE)
          .map(revocationLine)
          .join(''),
      )
      await nextTurn()
    }
    texts.push(last)
    const whole = await replaceFile(file, texts)
    left = { whole, now: whole }
    nextWholeAt = performance.now() + (performance.now() - begun) / WHOLE_SHARE
  }

  /** What another process wrote there must not be lost: a start would have read it as well. */
  async function learnFromFile(): Promise<void> {
    const lines = (await readFile(file, 'utf8').catch(() => '')).split('\n')
    for (let at = 0; at < lines.length; at += SLICE) {
      const text = [...lines.slice(at, at + SLICE), ''].join('\n')
      for (const revocation of parseRevocationLines(text).revocations) revocations.add(revocation)
      await nextTurn()
    }
  }

  function take(): string {
    const taken = pending.join('')
    pending = []
    return taken
  }

  function confirmation(): string {
    confirmationWrittenAt = performance.now()
    return confirmedAt === undefined ? '' : confirmationLine(confirmedAt)
  }

  async function readOne(path: string): Promise<RevocationLines | undefined> {
    try {
      const lines = parseRevocationLines(await readFile(path, 'utf8'))
      const { damaged } = lines
      if (damaged > 0) log.warn({ file: path, damaged }, 'revocation snapshot damaged')
      return lines
    } catch (error) {
      log.warn({ file: path, reason: String(error) }, 'revocation snapshot unreadable')
      return undefined
    }
  }

  return {
    /**
     * What was kept, and when the store last confirmed that this was all; `undefined` without
     * files.
     */
    async read() {
      const paths = await findFiles(parts).catch(() => [])
      const found = (await Promise.all(paths.map(readOne))).filter((one) => one !== undefined)
      if (found.length === 0) return undefined
      // Each file is complete as of its own time, so all together are as of the latest.
      const times = found.flatMap((one) => one.confirmedAt ?? [])
      confirmedAt = times.length === 0 ? undefined : Math.max(...times)
      return { revocations: found.flatMap((one) => one.revocations), confirmedAt }
    },
    /** Something new is in the list. */
    add(revocation: Revocation) {
      pending.push(revocationLine(revocation))
      schedule()
    },
    /** The store has nothing that is not in the list. */
    confirm() {
      confirmedAt = Date.now()
      const isDue = performance.now() - confirmationWrittenAt >= CONFIRM_MS
      if (isDue && failures.state().lastError === undefined) schedule()
    },
    /** Settles when what was added is on the disk, or cannot be written now. */
    async written() {
      const late = pause(MAX_WAIT_MS, undefined, { ref: false })
      // What is being written now may have begun without it.
      for (let turn = 0; turn < 2 && pending.length > 0; turn++) {
        if (failures.state().lastError !== undefined) return
        start()
        await Promise.race([working, late])
      }
    },
    state(): SnapshotState {
      const { lastError } = failures.state()
      return { file, current: isTried ? lastError === undefined : undefined, ...failures.state() }
    },
    async close() {
      isClosed = true
      failures.close()
      clearTimeout(timer)
      await working
      if (confirmedAt !== undefined || pending.length > 0) await write()
      failures.close()
    },
  }
}
