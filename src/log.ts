import { type DestinationStream, type Logger, pino } from 'pino'

export interface Log extends Logger {
  /**
   * For the line at the end of each request, whose fields are a closed list without a credential:
   * going through the redaction would cost as much as the rest of the line.
   */
  readonly requests: Logger
  /** Writes down a decision among the other lines. */
  readonly decisions: WriteDecision
  /** Lines that were let go because nobody read fast enough. */
  readonly dropped: () => number
}

/** Writes one decision as one line, whatever the level: who switches them on wants them all. */
export type WriteDecision = (decision: object) => void

/** Where lines go, and how many did not get there if it counts them. */
export type LineDestination = DestinationStream & { readonly dropped?: () => number }

/**
 * Second line of defence: nothing passes a credential to the log on purpose, and what would do so
 * by mistake under one of these names is cut out.
 */
const redacted = ['authorization', 'cookie', 'set-cookie', 'token', 'password', 'secret', 'code']

const formatters = { level: (label: string) => ({ level: label }) }

/** Structured lines only: whatever a client sends is a JSON string in one line. */
export function createLog(level: string, destination: LineDestination): Log {
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, formatters }
  const paths = redacted.flatMap((name) => [`["${name}"]`, `*["${name}"]`])
  const main = pino({ ...options, redact: { paths, remove: true } }, destination)
  return Object.assign(main, {
    requests: pino(options, destination),
    decisions: createDecisionLines(destination),
    dropped: destination.dropped ?? (() => 0),
  })
}

/** Decisions as JSON lines; each has the time of its own in it. */
export function createDecisionLines(destination: DestinationStream): WriteDecision {
  const lines = pino({ level: 'info', base: null, timestamp: false, formatters }, destination)
  return (decision) => lines.info(decision, 'decision')
}
