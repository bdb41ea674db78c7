import { type DestinationStream, type Logger, pino } from 'pino'
import { isoTime } from './json-line.ts'

export interface Log extends Logger {
  /**
   * The line of each request. Its fields are a closed list without credentials, so it skips the
   * redaction, which costs as much as the rest of the line.
   */
  readonly requests: RequestLines
  /** An error as JSON, redacted. */
  readonly errorJson: (error: Error) => string
  /** Redacts a text of another party. */
  readonly clean: (text: string) => string
  readonly decisions: WriteDecision
  /** Lines that were dropped because the output could not keep up. */
  readonly dropped: () => number
}

interface RequestLines {
  readonly isWritten: (level: 'info' | 'error') => boolean
  /** `members`: the JSON members after level and time. */
  readonly write: (level: 'info' | 'error', members: string) => void
}

/** Writes one decision as one line, whatever the log level. */
export type WriteDecision = (decision: object) => void

export type LineDestination = DestinationStream & { readonly dropped?: () => number }

/** Second line of defense: no code logs credentials on purpose, and these names are removed in any case. */
const redacted = ['authorization', 'cookie', 'set-cookie', 'token', 'password', 'secret', 'code']

const formatters = { level: (label: string) => ({ level: label }) }

interface LogOptions {
  /** In every line, to tell processes apart. */
  readonly base?: Readonly<Record<string, number | string>> | undefined
  /** The loggable parts of an error. */
  readonly describe?: (error: unknown) => object
  readonly clean?: (text: string) => string
}

/** Structured lines only: client input is a JSON string within one line. */
export function createLog(
  level: string,
  destination: LineDestination,
  { base, describe = plainError, clean = (text) => text }: LogOptions = {},
): Log {
  const timestamp = pino.stdTimeFunctions.isoTime
  // pino would serialize an error that is already described once more.
  const serializers = { err: (it: unknown) => (it instanceof Error ? describe(it) : it) }
  const options = { level, base: base ?? null, timestamp, formatters, serializers }
  const paths = redacted.flatMap((name) => [`["${name}"]`, `*["${name}"]`])
  const main = pino({ ...options, redact: { paths, remove: true } }, destination)
  const always = Object.entries(base ?? {}).map(
    ([name, value]) => `,"${name}":${JSON.stringify(value)}`,
  )
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

/** Without further properties: they may hold secrets. */
function plainError(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) }
  const { name, message, stack } = error
  return { type: name, message, stack }
}

/** Decisions as JSON lines; each contains its own time. */
export function createDecisionLines(
  destination: DestinationStream,
  base: LogOptions['base'] = undefined,
): WriteDecision {
  const options = { level: 'info', base: base ?? null, timestamp: false, formatters } as const
  const lines = pino(options, destination)
  return (decision) => lines.info(decision, 'decision')
}
