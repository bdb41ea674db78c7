import { flushMs } from '../closing.ts'
import type { Config } from '../config/schema/schema.ts'
import type { ServeOptions } from './options.ts'

/** Requests have the deadline without what the stores need after them. */
export function drainTimes({ shutdown: { graceMs, idleMs, deadlineMs } }: Config) {
  return { graceMs, idleMs, deadlineMs: deadlineMs - flushMs(deadlineMs) }
}

/** What an end in order needs at least, besides the time that requests take. */
export function drainMs({ shutdown: { graceMs, idleMs, deadlineMs } }: Config): number {
  return graceMs + idleMs + flushMs(deadlineMs)
}

/** What can end a drain early, and who is told of what it cut. */
export function drainOptions({ log, abortSignal }: ServeOptions) {
  const onCut = (connections: number) =>
    log.warn({ connections }, 'connections closed before their responses were complete')
  return { abortSignal, onCut }
}

/** Whether others serve the port too. */
export function listenerSettings({ asWorker }: ServeOptions) {
  return { single: asWorker !== undefined }
}
