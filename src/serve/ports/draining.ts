import type { Config } from '../../config/schema/schema.ts'
import { flushMs } from '../../kernel/closing.ts'
import type { ServeOptions } from '../options.ts'

/** Requests have the deadline, less the time that stores need to flush after them. */
export function drainTimes({ shutdown: { graceMs, idleMs, deadlineMs } }: Config) {
  return { graceMs, idleMs, deadlineMs: deadlineMs - flushMs(deadlineMs) }
}

/** What an orderly shutdown takes at least, besides the requests. */
export function drainMs({ shutdown: { graceMs, idleMs, deadlineMs } }: Config): number {
  return graceMs + idleMs + flushMs(deadlineMs)
}

export function drainOptions({ log, abortSignal }: ServeOptions) {
  const onCut = (connections: number) =>
    log.warn({ connections }, 'connections closed before their responses were complete')
  return { abortSignal, onCut }
}

/** Whether other processes serve the same port. */
export function listenerSettings({ asWorker }: ServeOptions) {
  return { single: asWorker !== undefined }
}
