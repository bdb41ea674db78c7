import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { Invalid, type Problem } from '../errors.ts'

/** A decision log that can be read once. */
export interface LogSource {
  /** For messages. */
  readonly name: string
  /** On disk; `undefined` for a pipe. */
  readonly bytes: number | undefined
  readonly open: () => AsyncIterable<Uint8Array>
}

interface Places {
  readonly cwd: string
  /** What `-` means. */
  readonly stdin: () => AsyncIterable<Uint8Array>
}

const chunkBytes = 512 * 1024

/**
 * Finds the logs before any of them is read, so that a mistyped name is noticed at once. Throws `Invalid`
 * with all names that cannot be read.
 */
export async function findLogs(
  names: readonly string[],
  { cwd, stdin }: Places,
): Promise<readonly LogSource[]> {
  const problems: Problem[] = []
  const seen = new Set<string>()
  const sources: LogSource[] = []
  for (const name of names) {
    const found = name === '-' ? '-' : await stat(resolve(cwd, name)).catch(codeOf)
    const message = problemOf(found)
    const id = typeof found === 'string' ? found : `${found.dev}:${found.ino}`
    if (message !== undefined) problems.push({ file: name, message })
    else if (seen.has(id)) problems.push({ file: name, message: 'is given twice' })
    else if (typeof found === 'string')
      sources.push({ name: 'stdin', bytes: undefined, open: stdin })
    else sources.push(fileSource(name, resolve(cwd, name), found))
    seen.add(id)
  }
  if (problems.length > 0) throw new Invalid(problems)
  return sources
}

type Found = Awaited<ReturnType<typeof stat>> | string

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'unknown error'
}

function problemOf(found: Found): string | undefined {
  if (found === '-') return undefined
  if (typeof found !== 'string') {
    return found.isDirectory() ? 'is a directory: name the files in it' : undefined
  }
  return found === 'ENOENT' ? 'does not exist' : `cannot be read (${found})`
}

function fileSource(name: string, path: string, found: Exclude<Found, string>): LogSource {
  return {
    name,
    bytes: found.isFile() ? Number(found.size) : undefined,
    open: () => createReadStream(path, { highWaterMark: chunkBytes }),
  }
}

/**
 * Passes on the bytes of a log, decompressed if it starts as gzip does, whatever its name. Returns why the
 * rest cannot be read; `undefined` when all was.
 */
export async function readLog(
  { open }: LogSource,
  push: (bytes: Uint8Array) => void,
  onRead: (bytes: number) => void,
): Promise<string | undefined> {
  const raw = counted(open(), onRead)
  try {
    const start = await firstBytes(raw, 2)
    const isGzip = start[0] === 0x1f && start[1] === 0x8b
    if (isGzip) return await decompress(joined(start, raw), push)
    push(start)
  } catch (error) {
    return messageOf(error)
  }
  return readPlain(raw, push)
}

async function readPlain(
  raw: AsyncGenerator<Uint8Array>,
  push: (bytes: Uint8Array) => void,
): Promise<string | undefined> {
  for (;;) {
    let next: IteratorResult<Uint8Array>
    try {
      next = await raw.next()
    } catch (error) {
      return messageOf(error)
    }
    if (next.done === true) return undefined
    push(next.value)
  }
}

/**
 * By events, and with an end that comes after the last bytes: otherwise zlib discards all that it
 * decompressed from those when the end of the file is missing.
 */
async function decompress(
  raw: AsyncIterable<Uint8Array>,
  push: (bytes: Uint8Array) => void,
): Promise<string | undefined> {
  const gunzip = createGunzip({ chunkSize: chunkBytes }).on('data', push)
  const ended = finished(gunzip).then(() => undefined, messageOf)
  try {
    for await (const bytes of raw) {
      // After an error, the stream does not call back.
      if (gunzip.destroyed) break
      await written(gunzip, bytes)
    }
    gunzip.end()
  } catch (error) {
    gunzip.destroy()
    return messageOf(error)
  }
  return ended
}

function written(stream: Writable, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    stream.once('close', resolve)
    stream.write(bytes, () => {
      stream.off('close', resolve)
      resolve()
    })
  })
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

async function* counted(
  bytes: AsyncIterable<Uint8Array>,
  onRead: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of bytes) {
    onRead(chunk.length)
    yield chunk
  }
}

/** At least this many bytes, unless there are fewer. */
async function firstBytes(bytes: AsyncGenerator<Uint8Array>, atLeast: number): Promise<Uint8Array> {
  let start: Uint8Array = new Uint8Array(0)
  while (start.length < atLeast) {
    const next = await bytes.next()
    if (next.done === true) break
    start = start.length === 0 ? next.value : Buffer.concat([start, next.value])
  }
  return start
}

async function* joined(
  start: Uint8Array,
  rest: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield start
  yield* rest
}
