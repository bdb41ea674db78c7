import { type DestinationStream, type Logger, pino } from 'pino'
import { isoTime } from './json-line.ts'

export interface Log extends Logger {
  /**
   * For the line at the end of each request, whose fields are a closed list without a credential:
   * going through the redaction would cost as much as the rest of the line.
   */
  readonly requests: RequestLines
  /** An error as a line has it, without what may not stand there. */
  readonly errorJson: (error: Error) => string
  /** A text that others wrote, without what may not stand there. */
  readonly clean: (text: string) => string
  /** Writes down a decision among the other lines. */
  readonly decisions: WriteDecision
  /** Lines that were let go because nobody read fast enough. */
  readonly dropped: () => number
}

interface RequestLines {
  readonly isWritten: (level: 'info' | 'error') => boolean
  /** `members`: those of the line's JSON object, after level and time. */
  readonly write: (level: 'info' | 'error', members: string) => void
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

interface LogOptions {
  /** Stands in every line, to tell processes apart. */
  readonly base?: Readonly<Record<string, number>> | undefined
  /** What of an error may stand in a line. */
  readonly describe?: (error: unknown) => object
  readonly clean?: (text: string) => string
}

/** Structured lines only: whatever a client sends is a JSON string in one line. */
export function createLog(
  level: string,
  destination: LineDestination,
  { base, describe = plainError, clean = (text) => text }: LogOptions = {},
): Log {
  const timestamp = pino.stdTimeFunctions.isoTime
  // pino would take what was described already for an error once more.
  const serializers = { err: (it: unknown) => (it instanceof Error ? describe(it) : it) }
  const options = { level, base: base ?? null, timestamp, formatters, serializers }
  const paths = redacted.flatMap((name) => [`["${name}"]`, `*["${name}"]`])
  const main = pino({ ...options, redact: { paths, remove: true } }, destination)
  const always = Object.entries(base ?? {}).map(([name, value]) => `,"${name}":${value}`)
  const afterTime = `"${always.join('')}`
  const requests: RequestLines = {
    isWritten: (level) => main.isLevelEnabled(level),
    write: (level, members) =>
      destination.write(
        `{"level":"${level}","time":"${isoTime(Date.now())}${afterTime}${members}}\n`,
      ),
  }
  return Object.assign(main, {
    requests,
    errorJson: (error: Error) => JSON.stringify(describe(error)),
    clean,
    decisions: createDecisionLines(destination, base),
    dropped: destination.dropped ?? (() => 0),
  })
}

/** Nothing that somebody hung on it. */
function plainError(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) }
  const { name, message, stack } = error
  return { type: name, message, stack }
}

/** Decisions as JSON lines; each has the time of its own in it. */
export function createDecisionLines(
  destination: DestinationStream,
  base: LogOptions['base'] = undefined,
): WriteDecision {
  const options = { level: 'info', base: base ?? null, timestamp: false, formatters } as const
  const lines = pino(options, destination)
  return (decision) => lines.info(decision, 'decision')
}
