/** What waits for a slow reader or disk. Beyond that, lines are dropped: memory must stay bounded. */
const maxLength = 4 * 1024 * 1024

/** How long lines gather, so that one write carries many. */
export const gatherMs = 10

/** Lines on their way to an output: bounded, in order, with a count of those that were dropped. */
export function createLineQueue() {
  let waiting: string[] = []
  let waitingLength = 0
  let dropped = 0

  function takeAll(): string {
    const text = waiting.join('')
    waiting = []
    waitingLength = 0
    return text
  }

  /** Counts lines that the output did not take. */
  function drop(lines: string): void {
    for (let at = lines.indexOf('\n'); at !== -1; at = lines.indexOf('\n', at + 1)) dropped++
  }

  return {
    /** Adds one line or several, or drops and counts them when the queue is full. */
    push(lines: string) {
      if (waitingLength + lines.length > maxLength) return drop(lines)
      waiting.push(lines)
      waitingLength += lines.length
    },
    /** Removes entries of at most `most` characters together, but one entry at least. */
    take(most?: number) {
      if (most === undefined || waitingLength <= most) return takeAll()
      let length = 0
      const end = waiting.findIndex((lines) => {
        length += lines.length
        return length > most
      })
      const text = waiting.splice(0, Math.max(1, end)).join('')
      waitingLength -= text.length
      return text
    },
    /** Characters that wait. */
    length: () => waitingLength,
    drop,
    dropped: () => dropped,
  }
}
