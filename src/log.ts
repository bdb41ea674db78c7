import { type DestinationStream, type Logger, pino } from 'pino'
import { isoTime } from './json-line.ts'

export interface Log extends Logger {
  /**
   * For the line at the end of each request, whose fields are a closed list without a credential:
   * going through the redaction would cost as much as the rest of the line.
   */
  readonly requests: RequestLines
}

export interface RequestLines {
  readonly isWritten: (level: 'info' | 'error') => boolean
  /** `members`: those of the line's JSON object, after level and time. */
  readonly write: (level: 'info' | 'error', members: string) => void
}

/**
 * Second line of defence: nothing passes a credential to the log on purpose, and what would do so
 * by mistake under one of these names is cut out.
 */
const redacted = ['authorization', 'cookie', 'set-cookie', 'token', 'password', 'secret', 'code']

/** Structured lines only: whatever a client sends is a JSON string in one line. */
export function createLog(level: string, destination: DestinationStream): Log {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  }
  const paths = redacted.flatMap((name) => [`["${name}"]`, `*["${name}"]`])
  const main = pino({ ...options, redact: { paths, remove: true } }, destination)
  const isWritten = (level: 'info' | 'error') => main.isLevelEnabled(level)
  const requests: RequestLines = {
    isWritten,
    write: (level, members) =>
      destination.write(`{"level":"${level}","time":"${isoTime(Date.now())}"${members}}\n`),
  }
  return Object.assign(main, { requests })
}

/** An error as a log line has it, with its stack. */
export function errorJson(error: Error): string {
  return JSON.stringify(pino.stdSerializers.err(error))
}
