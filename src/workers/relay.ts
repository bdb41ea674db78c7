import type { Readable } from 'node:stream'

/** A longer line is split, so that a process cannot fill the memory of the supervisor. */
const maxLineBytes = 1024 * 1024
/** A child that an exited worker left behind may keep its output open. */
const drainMs = 1000
const newline = 0x0a

/** Takes one line or more, each with its newline. */
type Forward = (lines: string) => void

/**
 * Forwards the output of several processes in complete lines. If they wrote to one output themselves, a
 * slow reader would get their lines mixed: a full terminal takes any part of a line, and a full pipe any
 * part of a line longer than 4096 bytes.
 */
export function createRelay() {
  const open = new Set<Promise<void>>()

  return {
    /** Starts to read one output. An unfinished last line is forwarded as a line. */
    take(output: Readable, forward: Forward) {
      const { promise, resolve } = Promise.withResolvers<void>()
      open.add(promise)
      readLines(output, forward, () => {
        open.delete(promise)
        resolve()
      })
    },
    /** Settles when all outputs have ended and are forwarded, or after a second. */
    async drained() {
      const { promise, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, drainMs)
      await Promise.race([Promise.all(open), promise])
      clearTimeout(timer)
    },
  }
}

function readLines(output: Readable, forward: Forward, onEnd: () => void): void {
  let unfinished: Buffer[] = []
  let unfinishedLength = 0

  function pass(bytes: Buffer): void {
    const text = Buffer.concat([...unfinished, bytes]).toString()
    unfinished = []
    unfinishedLength = 0
    forward(text.endsWith('\n') ? text : `${text}\n`)
  }

  output.on('data', (bytes: Buffer) => {
    const complete = bytes.lastIndexOf(newline) + 1
    if (complete > 0) pass(bytes.subarray(0, complete))
    if (complete === bytes.length) return
    unfinished.push(bytes.subarray(complete))
    unfinishedLength += bytes.length - complete
    if (unfinishedLength > maxLineBytes) pass(Buffer.alloc(0))
  })
  // An output that cannot be read any more has ended.
  output.on('error', () => {})
  output.once('close', () => {
    if (unfinishedLength > 0) pass(Buffer.alloc(0))
    onEnd()
  })
}
