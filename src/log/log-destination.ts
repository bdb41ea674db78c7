import { constants, fstatSync, openSync, writeSync } from 'node:fs'
import { createLineQueue, gatherMs } from './line-queue.ts'

const gatherLength = 32_768
/** Holds what usually gathers, whatever its characters: one takes three bytes at most. */
const bufferBytes = 3 * (gatherLength + 8192)

/**
 * Writes lines to a file descriptor, many at a time, and synchronously, so that an exiting process
 * can flush them. A slow reader costs lines, never a request. (sonic-boom, pino's default, repeats a
 * flush at exit forever once the reader has closed its end.)
 *
 *   gathering  lines wait for `gatherMs`, or until there are `gatherLength` characters
 *   stalled    the pipe is full; the rest is tried again after `gatherMs`
 *   broken     the reader has closed its end; lines are dropped
 */
export function createLogDestination(output: number) {
  const fd = withoutBlocking(output)
  const queue = createLineQueue()
  /** Reused: allocating a buffer for each write took half the cost of a line. */
  const buffer = Buffer.allocUnsafeSlow(bufferBytes)
  /** What a full pipe did not take. */
  let rest = buffer.subarray(0, 0)
  let timer: NodeJS.Timeout | undefined
  let broken = false

  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    if (rest.length === 0) encodeWaiting()
    while (rest.length > 0 && !broken) {
      if (!writeSome()) {
        timer = setTimeout(flush, gatherMs).unref()
        return
      }
      if (rest.length === 0) encodeWaiting()
    }
  }

  function encodeWaiting(): void {
    const text = queue.take()
    const fits = text.length * 3 <= buffer.length
    rest = fits ? buffer.subarray(0, buffer.write(text)) : Buffer.from(text)
  }

  /** Whether anything could be written. */
  function writeSome(): boolean {
    try {
      rest = rest.subarray(writeSync(fd, rest))
      return true
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException
      if (code === 'EAGAIN') return false
      // A full disk may have space later; a reader that has closed its end does not come back.
      broken = code === 'EPIPE' || code === 'EBADF' || code === 'ECONNRESET'
      queue.drop(rest.toString())
      if (broken) queue.drop(queue.take())
      rest = Buffer.alloc(0)
      return false
    }
  }

  return {
    /** Takes one line or several and returns at once. */
    write(lines: string) {
      if (broken) return queue.drop(lines)
      queue.push(lines)
      if (queue.length() >= gatherLength && rest.length === 0) flush()
      else timer ??= setTimeout(flush, gatherMs).unref()
    },
    /**
     * Writes what is waiting before it returns, for at most a second: for the exit of the process.
     */
    flushSync() {
      for (let attempt = 0; attempt < 100 && !broken; attempt++) {
        flush()
        if (rest.length === 0) return
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)
      }
    },
    /** Lines that were dropped because the reader could not keep up. */
    dropped: queue.dropped,
  }
}

/**
 * A write to a full pipe, or to a terminal stopped with Ctrl-S, would block every request. Opening the
 * same file again with O_NONBLOCK leaves the descriptor of other processes as it is. (Sockets cannot be
 * opened twice; Node has made them non-blocking already.)
 */
function withoutBlocking(fd: number): number {
  const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = constants
  try {
    const kind = fstatSync(fd)
    if (!kind.isFIFO() && !kind.isCharacterDevice()) return fd
    return openSync(`/dev/fd/${fd}`, O_WRONLY | O_NONBLOCK | O_NOCTTY)
  } catch {
    return fd
  }
}
