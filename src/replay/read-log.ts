import type { Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { chunkBytes, type LogSource } from './log-source.ts'

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
  let start: Uint8Array
  try {
    start = await firstBytes(raw, 2)
  } catch (error) {
    return messageOf(error)
  }
  if (start[0] === 0x1f && start[1] === 0x8b) return decompress(joined(start, raw), push)
  push(start)
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
