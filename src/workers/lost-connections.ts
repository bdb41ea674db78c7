/** How long a connection may take to reach a worker that listens. */
const handOverMs = 1000

/** A connection as `node:cluster` holds it while it hands it over: a bare handle, without a socket. */
interface BareHandle {
  readonly onconnection?: unknown
  close(): void
}

/**
 * Closes connections that `node:cluster` accepted and has no worker for. It hands a connection to a
 * worker, the worker closes its listeners before it takes it, and with no other worker the connection
 * stays open in this process without an owner: its client would wait for an answer until it gives up.
 * To be called when no worker listens; what reaches a new worker in time is left alone.
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
  // Node offers no other way to them.
  const { _getActiveHandles: active } = process as { _getActiveHandles?: () => readonly object[] }
  return (active?.call(process) ?? []).filter(isBareConnection)
}

function isBareConnection(handle: object): handle is BareHandle {
  const { onconnection } = handle as BareHandle
  return handle.constructor.name === 'TCP' && typeof onconnection !== 'function'
}
