import { constants, fstatSync, openSync, write, writeSync } from 'node:fs'

export interface LogDestination {
  /** Takes a line and returns at once. */
  write(line: string): void
  /** Writes what is waiting before it returns, for at most a second: for the end of the process. */
  flushSync(): void
  /** Lines that were let go because nobody read fast enough. */
  dropped(): number
}

const mostWaiting = 4 * 1024 * 1024
const gatherMs = 10
const gatherBytes = 8192

/**
 * Writes lines to a file descriptor in the background, many at a time. A reader that is slow costs
 * lines, counted, and never a request; a reader that has left costs all of them and nothing else.
 * (sonic-boom, pino's own, repeats a synchronous flush for ever once the reader has left.)
 *
 *   gathering  lines wait for company, for `gatherMs` or until there are `gatherBytes`
 *   writing    one chunk is with the system; what comes meanwhile is the next chunk
 *   broken     the reader has left; lines are let go
 */
export function createLogDestination(output: number): LogDestination {
  const fd = withoutBlocking(output)
  let waiting: string[] = []
  let waitingLength = 0
  let current: Buffer | undefined
  let timer: NodeJS.Timeout | undefined
  let broken = false
  let dropped = 0

  function gather(): void {
    if (current !== undefined) return
    if (waitingLength >= gatherBytes) flush()
    else timer ??= setTimeout(flush, gatherMs).unref()
  }

  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    if (current !== undefined || waitingLength === 0) return
    current = takeWaiting()
    writeOn()
  }

  function takeWaiting(): Buffer {
    const chunk = Buffer.from(waiting.join(''))
    waiting = []
    waitingLength = 0
    return chunk
  }

  function writeOn(): void {
    if (current === undefined) return
    write(fd, current, (error, written) => {
      // The end of the process may have written it meanwhile.
      if (current === undefined) return
      if (error?.code === 'EAGAIN') {
        setTimeout(writeOn, 10).unref()
        return
      }
      broken = error !== null
      current = broken || written === current.length ? undefined : current.subarray(written)
      if (current !== undefined) writeOn()
      else if (waitingLength > 0) gather()
    })
  }

  function flushSync(): void {
    let rest = Buffer.concat([current ?? Buffer.alloc(0), takeWaiting()])
    current = undefined
    for (let attempt = 0; rest.length > 0 && !broken && attempt < 100; ) {
      try {
        rest = rest.subarray(writeSync(fd, rest))
      } catch (error) {
        broken = (error as NodeJS.ErrnoException).code !== 'EAGAIN'
        attempt++
        if (!broken) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)
      }
    }
  }

  return {
    write(line) {
      if (broken || waitingLength + line.length > mostWaiting) {
        dropped++
        return
      }
      waiting.push(line)
      waitingLength += line.length
      gather()
    },
    flushSync,
    dropped: () => dropped,
  }
}

/**
 * A write to a full pipe blocks its thread, and the exit of the process with it. A second opening
 * of the same pipe can be told not to, without changing it for whoever else has it open.
 */
function withoutBlocking(fd: number): number {
  try {
    if (!fstatSync(fd).isFIFO()) return fd
    return openSync(`/dev/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK)
  } catch {
    return fd
  }
}
