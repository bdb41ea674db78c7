import type { FeedLog } from '../../background/feed-log.ts'
import { jsonLine, printable } from '../format.ts'
import type { Io } from '../io.ts'

/** A line for each event: text for people on `err`, or JSON on `out`. */
export function createFollowLog(output: 'text' | 'json', io: Io): FeedLog {
  const at = () => new Date(io.now?.() ?? Date.now()).toISOString()
  const write = (level: 'info' | 'warn', fields: object, msg: string) => {
    if (output === 'json') return io.out(jsonLine({ level, time: at(), ...fields, msg }))
    const shown = Object.entries(fields).flatMap(([name, value]) =>
      value === undefined ? [] : [`${name}=${value}`],
    )
    io.err(
      `${printable([at(), level === 'warn' ? 'warning:' : '', `${msg}:`, ...shown].filter(Boolean).join(' '))}\n`,
    )
  }
  return {
    info: (fields, text) => write('info', fields, text),
    warn: (fields, text) => write('warn', fields, text),
  }
}
