import { type DestinationStream, type Logger, pino } from 'pino'

export interface Log extends Logger {
  /**
   * For the line at the end of each request, whose fields are a closed list without a credential:
   * going through the redaction would cost as much as the rest of the line.
   */
  readonly requests: Logger
}

/**
 * Second line of defence: nothing passes a credential to the log on purpose, and what would do so
 * by mistake under one of these names is cut out.
 */
const redacted = ['authorization', 'cookie', 'set-cookie', 'token', 'password', 'secret', 'code']

/**
 * Structured lines only: whatever a client sends is a JSON string in one line. `base` stands in
 * every line, to tell processes apart.
 */
export function createLog(
  level: string,
  destination: DestinationStream,
  base?: Readonly<Record<string, number>>,
): Log {
  const options = {
    level,
    base: base ?? null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  }
  const paths = redacted.flatMap((name) => [`["${name}"]`, `*["${name}"]`])
  const main = pino({ ...options, redact: { paths, remove: true } }, destination)
  return Object.assign(main, { requests: pino(options, destination) })
}
