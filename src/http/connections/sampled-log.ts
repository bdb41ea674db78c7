import type { Log } from '../../log/log.ts'

/** Writes at most one line a second for each message and reason. */
type LogSample = (
  level: 'info' | 'warn',
  fields: { readonly reason: string; readonly client: string | undefined },
  message: string,
) => void

const everyMs = 1000

/**
 * For events that a client can cause at will: a line for each would help a flood. `suppressed` counts
 * the events without a line since the last one.
 */
export function createLogSample(log: Pick<Log, 'info' | 'warn'>): LogSample {
  const kinds = new Map<string, { writtenAt: number; suppressed: number }>()

  return (level, fields, message) => {
    const key = `${message} ${fields.reason}`
    const kind = kinds.get(key) ?? { writtenAt: Number.NEGATIVE_INFINITY, suppressed: 0 }
    kinds.set(key, kind)
    const now = performance.now()
    if (now - kind.writtenAt < everyMs) {
      kind.suppressed++
      return
    }
    const { suppressed } = kind
    kind.writtenAt = now
    kind.suppressed = 0
    log[level]({ ...fields, ...(suppressed > 0 && { suppressed }) }, message)
  }
}
