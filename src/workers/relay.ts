import type { Readable } from 'node:stream'

/** What a process may write without ending the line, before it is ended for it. */
const longestLine = 1024 * 1024
/** A process of somebody else that an ended one left behind may keep its output open. */
const drainMs = 1000
const newline = 0x0a

/** Takes one line or more, each with its end. */
type PassOn = (lines: string) => void

/**
 * Takes what several processes write and passes it on in whole lines. If they wrote to one place
 * themselves, a reader that is slow would get pieces of their lines within each other: a full
 * terminal takes any part of a line, and a full pipe any part of one that is longer than 4096 bytes.
 */
interface Relay {
  /** Begins to read one. Half a line at its end is passed on as a line. */
  readonly take: (output: Readable, passOn: PassOn) => void
  /** Settles when all outputs have ended and were passed on, or after a second. */
  readonly drained: () => Promise<void>
}

export function createRelay(): Relay {
  const open = new Set<Promise<void>>()

  return {
    take(output, passOn) {
      const { promise, resolve } = Promise.withResolvers<void>()
      open.add(promise)
      readLines(output, passOn, () => {
        open.delete(promise)
        resolve()
      })
    },
    async drained() {
      const { promise, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, drainMs)
      await Promise.race([Promise.all(open), promise])
      clearTimeout(timer)
    },
  }
}

function readLines(output: Readable, passOn: PassOn, onEnd: () => void): void {
  let begun: Buffer[] = []
  let begunLength = 0

  function pass(bytes: Buffer): void {
    const text = Buffer.concat([...begun, bytes]).toString()
    begun = []
    begunLength = 0
    passOn(text.endsWith('\n') ? text : `${text}\n`)
  }

  output.on('data', (bytes: Buffer) => {
    const whole = bytes.lastIndexOf(newline) + 1
    if (whole > 0) pass(bytes.subarray(0, whole))
    if (whole === bytes.length) return
    begun.push(bytes.subarray(whole))
    begunLength += bytes.length - whole
    if (begunLength > longestLine) pass(Buffer.alloc(0))
  })
  // One that cannot be read any more is one that has ended.
  output.on('error', () => {})
  output.once('close', () => {
    if (begunLength > 0) pass(Buffer.alloc(0))
    onEnd()
  })
}
