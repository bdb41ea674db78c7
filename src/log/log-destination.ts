import { constants, fstatSync, openSync, writeSync } from 'node:fs'

interface LogDestination {
  /** Takes one line or several and returns at once. */
  write(lines: string): void
  /** Writes what is waiting before it returns, for at most a second: for the end of the process. */
  flushSync(): void
  /** Lines that were let go because nobody read fast enough. */
  dropped(): number
}

const mostWaiting = 4 * 1024 * 1024
const gatherMs = 10
const gatherBytes = 32_768
/** Room for what is usually gathered, whatever its characters. */
const roomBytes = 3 * (gatherBytes + 8192)

/**
 * Writes lines to a file descriptor, many at a time. A reader that is slow costs lines, counted,
 * and never a request; a reader that has left costs all of them and nothing else. (sonic-boom,
 * pino's own, repeats a flush at the exit for ever once the reader has left.)
 *
 *   gathering  lines wait for company, for `gatherMs` or until there are `gatherBytes`
 *   stalled    the reader has a full pipe; what is left is tried again after `gatherMs`
 *   broken     the reader has left; lines are let go
 */
export function createLogDestination(output: number): LogDestination {
  const fd = withoutBlocking(output)
  let waiting: string[] = []
  let waitingLength = 0
  /** Used again for each piece: to make and to collect one for each took half of what a line costs here. */
  const room = Buffer.allocUnsafeSlow(roomBytes)
  /** What a full pipe did not take. */
  let rest = room.subarray(0, 0)
  let timer: NodeJS.Timeout | undefined
  let broken = false
  let dropped = 0

  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    if (rest.length === 0) takeWaiting()
    while (rest.length > 0 && !broken) {
      if (!writeSome()) {
        timer = setTimeout(flush, gatherMs).unref()
        return
      }
      if (rest.length === 0) takeWaiting()
    }
  }

  function takeWaiting(): void {
    const text = waiting.join('')
    // A character takes three bytes at most, and one beyond the first 65,536 has two units of its own.
    rest = text.length * 3 <= room.length ? room.subarray(0, room.write(text)) : Buffer.from(text)
    waiting = []
    waitingLength = 0
  }

  /** Whether anything could be written. */
  function writeSome(): boolean {
    try {
      rest = rest.subarray(writeSync(fd, rest))
      return true
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException
      if (code === 'EAGAIN') return false
      // A disk that is full now may have room later; a reader that has left does not come back.
      broken = code === 'EPIPE' || code === 'EBADF' || code === 'ECONNRESET'
      dropped += linesIn(rest) + (broken ? linesIn(Buffer.from(waiting.join(''))) : 0)
      rest = Buffer.alloc(0)
      return false
    }
  }

  return {
    write(lines) {
      if (broken || waitingLength + lines.length > mostWaiting) {
        dropped += linesIn(Buffer.from(lines))
        return
      }
      waiting.push(lines)
      waitingLength += lines.length
      if (waitingLength >= gatherBytes && rest.length === 0) flush()
      else timer ??= setTimeout(flush, gatherMs).unref()
    },
    flushSync() {
      for (let attempt = 0; attempt < 100 && !broken; attempt++) {
        flush()
        if (rest.length === 0) return
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)
      }
    },
    dropped: () => dropped,
  }
}

function linesIn(bytes: Buffer): number {
  return bytes.reduce((count, byte) => (byte === 0x0a ? count + 1 : count), 0)
}

/**
 * A write to a full pipe, or to a terminal that was stopped with Ctrl-S, blocks, and every request
 * with it. A second opening of the same one can be told not to, without changing it for whoever
 * else has it open. (Sockets cannot be opened twice; Node's own stdout has made them so.)
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
