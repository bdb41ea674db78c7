import type { Server } from 'node:net'

const everyMs = 1000

/**
 * Calls `check` every second while the server listens. When the whole process has stood still, the
 * requests that arrived meanwhile are unread, and timers come first: so the check waits for one read.
 */
export function checkTimeouts(server: Server, check: () => void): void {
  let timer: NodeJS.Timeout | undefined
  server.on('listening', () => {
    clearInterval(timer)
    timer = setInterval(() => setImmediate(check), everyMs).unref()
  })
  server.on('close', () => clearInterval(timer))
}
