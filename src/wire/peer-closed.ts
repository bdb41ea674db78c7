import { readSync } from 'node:fs'
import type { Socket } from 'node:net'

const oneByte = Buffer.alloc(1)

/**
 * Whether the kernel knows that the other end has closed or reset a connection, or has sent bytes
 * without a request, before the event loop has reported it. Only for an idle connection without TLS:
 * a byte that is there is consumed. A platform that gives no file descriptor cannot tell: `false`.
 */
export function hasPeerClosed(socket: Socket): boolean {
  const fd = descriptorOf(socket)
  if (fd === undefined) return false
  const { stackTraceLimit } = Error
  // The error for "nothing to read" needs no stack trace, which would be half of the cost.
  Error.stackTraceLimit = 0
  try {
    readSync(fd, oneByte, 0, 1, null)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'EAGAIN'
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

/** Not a documented API, hence the checks. */
function descriptorOf(socket: Socket): number | undefined {
  const { _handle: handle } = socket as { readonly _handle?: { readonly fd?: unknown } | null }
  const fd = handle?.fd
  return typeof fd === 'number' && fd >= 0 ? fd : undefined
}
