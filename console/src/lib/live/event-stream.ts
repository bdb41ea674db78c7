/** One event of a stream of server-sent events. */
export interface StreamEvent {
  readonly type: string
  readonly data: string
}

interface StreamHandlers {
  readonly onEvent: (event: StreamEvent) => void
  /** How long the server asks to pause before the next connection, in milliseconds. */
  readonly onRetry?: (ms: number) => void
}

/** More than the largest event of the console. */
const maxCharacters = 4_000_000

/**
 * Reads `text/event-stream` from chunks that may end anywhere. Comments and ids are ignored. Throws for
 * an event that never ends.
 */
export function createEventReader({ onEvent, onRetry }: StreamHandlers): (chunk: string) => void {
  let rest = ''
  let endedWithReturn = false
  let isFirst = true
  let type = ''
  let lines: string[] = []
  let size = 0

  function readLine(line: string): void {
    if (line === '') {
      if (lines.length > 0) onEvent({ type: type || 'message', data: lines.join('\n') })
      type = ''
      lines = []
      size = 0
      return
    }
    const colon = line.indexOf(':')
    const name = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (name === 'event') type = value
    if (name === 'retry' && /^\d{1,7}$/.test(value)) onRetry?.(Number(value))
    if (name !== 'data') return
    lines.push(value)
    size += value.length
    checkSize(size)
  }

  return (chunk) => {
    if (chunk === '') return
    let text = isFirst ? chunk.replace(/^\ufeff/, '') : chunk
    isFirst = false
    // CR and LF of one line end may come in two chunks.
    if (endedWithReturn && text.startsWith('\n')) text = text.slice(1)
    endedWithReturn = text === '' ? false : text.endsWith('\r')
    const parts = text.split(/\r\n|\r|\n/)
    const [first = '', ...others] = parts
    rest += first
    checkSize(rest.length)
    for (const next of others) {
      readLine(rest)
      rest = next
    }
  }
}

function checkSize(characters: number): void {
  if (characters > maxCharacters) throw new Error('an event of the stream is too long')
}
