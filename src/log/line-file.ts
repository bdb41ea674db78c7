import { type FileHandle, open, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { Invalid } from '../kernel/errors.ts'
import { createLineQueue, gatherMs } from './line-queue.ts'

/** A file that lines are appended to. */
export type LineFile = Awaited<ReturnType<typeof openLineFile>>

const rotationCheckMs = 1000
/** Node and the system split longer writes, and other processes may write in between. */
const maxWriteLength = 65_536

/**
 * Appends lines to a file, many at a time and asynchronously: a slow disk costs lines, never a request.
 * A file that log rotation has moved is opened again within a second. Throws `Invalid`, naming the
 * setting, when the file cannot be opened at the start.
 *
 *   idle     no line waits
 *   writing  one write is in progress, and lines for the next one gather
 */
export async function openLineFile(
  name: string,
  { setting, onTrouble }: { setting: string; onTrouble: (reason: string) => void },
) {
  const path = resolve(name)
  let file = await openAppending(path).catch((error: Error) => {
    throw new Invalid([{ file: setting, message: `cannot open for appending: ${error.message}` }])
  })
  const queue = createLineQueue()
  let checkedAt = Date.now()
  let failing = false
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> | undefined

  async function writeAll(): Promise<void> {
    while (queue.length() > 0) {
      const lines = queue.take(maxWriteLength)
      try {
        file = await reopenIfMoved(file)
        // A failed write may have left half a line, which must not become the start of the next.
        await writeWhole(file, `${failing ? '\n' : ''}${lines}`)
        failing = false
      } catch (error) {
        queue.drop(lines)
        if (!failing) onTrouble(error instanceof Error ? error.message : String(error))
        failing = true
      }
    }
  }

  async function reopenIfMoved(current: FileHandle): Promise<FileHandle> {
    if (Date.now() - checkedAt < rotationCheckMs) return current
    checkedAt = Date.now()
    const [ours, there] = await Promise.all([current.stat(), stat(path).catch(() => undefined)])
    if (there?.ino === ours.ino && there.dev === ours.dev) return current
    const opened = await openAppending(path)
    await current.close()
    return opened
  }

  function start(): void {
    timer = undefined
    writing ??= writeAll().finally(() => {
      writing = undefined
      if (queue.length() > 0) start()
    })
  }

  return {
    /** Takes a line and returns at once. */
    write(line: string) {
      queue.push(line)
      timer ??= setTimeout(start, gatherMs).unref()
    },
    /** Lines that were dropped: the disk was too slow, or rejected them. */
    dropped: queue.dropped,
    /** Writes what is waiting, for as long as the disk takes it, and closes. */
    async close() {
      clearTimeout(timer)
      start()
      while (writing !== undefined) await writing
      await file.close()
    },
  }
}

/** In one write, so that lines of several processes are not mixed. */
async function writeWhole(file: FileHandle, text: string): Promise<void> {
  const bytes = Buffer.from(text)
  const { bytesWritten } = await file.write(bytes)
  if (bytesWritten < bytes.length) throw new Error('short write')
}

/** The owner of the directory decides who may read decisions; others may not. */
function openAppending(path: string): Promise<FileHandle> {
  return open(path, 'a', 0o640)
}
