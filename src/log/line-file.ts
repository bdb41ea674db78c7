import { type FileHandle, open, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { Invalid } from '../errors.ts'

/** A file that lines are appended to. */
export interface LineFile {
  /** Takes a line and returns at once. */
  write(line: string): void
  /** Lines that were let go: the disk was too slow, or did not take them. */
  dropped(): number
  /** Writes what is waiting, for as long as the disk takes it, and closes. */
  close(): Promise<void>
}

const mostWaiting = 4 * 1024 * 1024
const gatherMs = 10
const lookEveryMs = 1000
/** Node and the system write more than that in several steps, between which others may write. */
const pieceLength = 65_536

/**
 * Appends lines to a file, many at a time and never in the way of a request: a disk that is slow
 * costs lines, counted. A file that was moved away, as log rotation does, is opened anew within a
 * second. Throws `Invalid`, naming the setting, when the file cannot be opened at the start.
 *
 *   idle     nothing waits
 *   writing  one write is under way, and lines for the next one gather
 */
export async function openLineFile(
  name: string,
  { setting, onTrouble }: { setting: string; onTrouble: (reason: string) => void },
): Promise<LineFile> {
  const path = resolve(name)
  let file = await openAppending(path).catch((error: Error) => {
    throw new Invalid([{ file: setting, message: `cannot open for appending: ${error.message}` }])
  })
  let lookedAt = Date.now()
  const waiting: string[] = []
  let waitingLength = 0
  let dropped = 0
  let ailing = false
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> | undefined

  async function writeAll(): Promise<void> {
    while (waiting.length > 0) {
      const lines = takePiece()
      try {
        file = await stillThere(file)
        // What an attempt that failed has written of a line must not become the start of the next.
        await writeWhole(file, `${ailing ? '\n' : ''}${lines.join('')}`)
        ailing = false
      } catch (error) {
        dropped += lines.length
        if (!ailing) onTrouble(error instanceof Error ? error.message : String(error))
        ailing = true
      }
    }
  }

  /** As many lines as go into one write. */
  function takePiece(): readonly string[] {
    let length = 0
    const end = waiting.findIndex((line) => {
      length += line.length
      return length > pieceLength
    })
    const lines = waiting.splice(0, end === -1 ? waiting.length : Math.max(1, end))
    for (const line of lines) waitingLength -= line.length
    return lines
  }

  async function stillThere(current: FileHandle): Promise<FileHandle> {
    if (Date.now() - lookedAt < lookEveryMs) return current
    lookedAt = Date.now()
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
      if (waiting.length > 0) start()
    })
  }

  return {
    write(line) {
      if (waitingLength + line.length > mostWaiting) {
        dropped++
        return
      }
      waiting.push(line)
      waitingLength += line.length
      timer ??= setTimeout(start, gatherMs).unref()
    },
    dropped: () => dropped,
    async close() {
      clearTimeout(timer)
      start()
      while (writing !== undefined) await writing
      await file.close()
    },
  }
}

/** In one write, so that lines of several processes do not end up within each other. */
async function writeWhole(file: FileHandle, text: string): Promise<void> {
  const bytes = Buffer.from(text)
  const { bytesWritten } = await file.write(bytes)
  if (bytesWritten < bytes.length) throw new Error('short write')
}

/** Who may read decisions is decided by whoever sets up the directory; others may not. */
function openAppending(path: string): Promise<FileHandle> {
  return open(path, 'a', 0o640)
}
