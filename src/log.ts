import { type DestinationStream, type Logger, pino } from 'pino'

export type Log = Logger

/**
 * Second line of defence: nothing passes a credential to the log on purpose, and what would do so
 * by mistake under one of these names is cut out.
 */
const redacted = ['authorization', 'cookie', 'set-cookie', 'token', 'password', 'secret', 'code']

/** Structured lines only: whatever a client sends is a JSON string in one line. */
export function createLog(level: string, destination?: DestinationStream): Log {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths: redacted.flatMap((name) => [`["${name}"]`, `*["${name}"]`]), remove: true },
  }
  return destination === undefined ? pino(options) : pino(options, destination)
}
