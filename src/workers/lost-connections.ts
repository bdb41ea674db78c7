import type { ChildProcess } from 'node:child_process'

/** How long a connection may take to reach a worker that listens. */
const handOverMs = 1000

/** A connection that `node:cluster` is handing over: a handle without a socket. */
interface BareHandle {
  readonly onconnection?: unknown
  close(): void
}

/** What an exited worker has said last may still have to be read. */
const lastWordsMs = 500

/** The worker to which each connection was sent last. */
const recipients = new WeakMap<object, ChildProcess>()

/** Notes which connections are sent to this worker: call it before the first one. */
export function noteHandOvers(worker: ChildProcess): void {
  const send = worker.send as (...all: unknown[]) => boolean
  worker.send = (...all: unknown[]) => {
    const [, handle] = all
    if (typeof handle === 'object' && handle !== null) recipients.set(handle, worker)
    return send.apply(worker, all)
  }
}

/**
 * Closes connections that an exited worker had been sent and had not taken. `node:cluster` waits for its
 * answer for ever, and so would their clients.
 */
export function closeSentTo(worker: ChildProcess): void {
  setTimeout(() => {
    for (const handle of bareConnections()) {
      if (recipients.get(handle) === worker) handle.close()
    }
  }, lastWordsMs).unref()
}

/**
 * Closes connections that `node:cluster` accepted and has no worker for. A worker can close its listeners
 * before it takes a connection on its way. Without another worker that connection would stay open here
 * without an owner, and its client would wait until it gives up. Call it when no worker listens.
 * Connections that reach a new worker in time stay open.
 */
export function closeLost(): void {
  const waiting = bareConnections()
  if (waiting.length === 0) return
  setTimeout(() => {
    const still = new Set(bareConnections())
    for (const handle of waiting) if (still.has(handle)) handle.close()
  }, handOverMs).unref()
}

function bareConnections(): readonly BareHandle[] {
  // Node has no public way to list them.
  const { _getActiveHandles: active } = process as { _getActiveHandles?: () => readonly object[] }
  return (active?.call(process) ?? []).filter(isBareConnection)
}

function isBareConnection(handle: object): handle is BareHandle {
  const { onconnection } = handle as BareHandle
  return handle.constructor.name === 'TCP' && typeof onconnection !== 'function'
}
