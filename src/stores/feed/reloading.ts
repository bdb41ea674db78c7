import { createPolling } from '../../background/polling.ts'
import { createReloadStatus } from '../../background/reload-status.ts'
import type { Reading, WatchedDirectory } from './watched-directory.ts'

/** How long a change may go unnoticed on a file system that sends no events. */
const POLL_MS = 2000

interface ReloadingParts<File extends object, Value> {
  readonly watched: WatchedDirectory<File>
  /** Throws when the files cannot be used. */
  readonly load: (reading: Reading<File>) => Value | Promise<Value>
  readonly onReloaded?: (value: Value) => void
  /** The files changed and cannot be used; `active` stays. */
  readonly onRejected: (reason: string, active: Value) => void
  /** The files are back to what is active. */
  readonly onRecovered: (active: Value) => void
  /** Milliseconds since the epoch. */
  readonly now?: () => number
}

/** What operators see of files that are reloaded. */
export interface ReloadingState {
  /** When the active files were loaded. */
  readonly since: string
  /** Why the current files are not active, if so. */
  readonly lastError: string | undefined
  readonly reloads: { readonly ok: number; readonly failed: number }
}

/** Loads files and reloads them when they change. Throws when the first load fails. */
export async function openReloading<File extends object, Value>(
  parts: ReloadingParts<File, Value>,
) {
  const { watched, load, now = Date.now } = parts
  const status = createReloadStatus((reason) => parts.onRejected(reason, active.value), now)
  let active = await accept(await watched.read(undefined))

  async function accept(reading: Reading<File> = { files: [], checksum: '' }) {
    const value = await load(reading)
    return { value, checksum: reading.checksum, since: new Date(now()).toISOString() }
  }

  async function attempt(): Promise<void> {
    try {
      const reading = await watched.read(active.checksum)
      if (reading !== undefined) {
        active = await accept(reading)
        status.loaded()
        parts.onReloaded?.(active.value)
      }
      if (status.succeeded() && reading === undefined) parts.onRecovered(active.value)
    } catch (error) {
      status.failed(error)
    }
    await watched.check()
  }

  const polling = createPolling(attempt, POLL_MS)
  watched.watch(() => void polling.now())
  await polling.now()
  return {
    current: (): Value => active.value,
    state: (): ReloadingState => ({
      since: active.since,
      lastError: status.failure()?.text,
      reloads: status.counts(),
    }),
    async close() {
      await polling.close()
      await watched.close()
    },
  }
}
