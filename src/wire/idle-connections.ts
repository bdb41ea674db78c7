import type { Connection } from './connection.ts'
import { createIdleLimit } from './idle-limit.ts'

/** The idle connections to one server. */
export type IdleConnections = ReturnType<typeof createIdleConnections>

interface Idle {
  readonly connection: Connection
  /** The tick at which it is closed. */
  readonly until: number
}

/** `tickMs`: the interval of the ticks; `maxMs`: the idle timeout that the operator sets. */
export function createIdleConnections(tickMs: number, maxMs?: number) {
  /**
   * Last in, first out, so that connections beyond the current load time out. Those that became free in
   * this turn come last: the system would have to be asked whether their server sent more.
   */
  const idle: Idle[] = []
  const limit = createIdleLimit(maxMs)
  let ticks = 0

  function isKept({ connection, until }: Idle): boolean {
    return until > ticks && connection.isFree()
  }

  return {
    /** Keeps a free connection until the server might close it. */
    keep(connection: Connection) {
      const ms = limit.of(connection.keepAliveSeconds())
      if (ms <= 0) connection.destroy()
      else idle.push({ connection, until: ticks + Math.max(1, Math.floor(ms / tickMs)) })
    },
    take() {
      for (;;) {
        const polled = idle.findLastIndex(({ connection }) => connection.isPolled())
        const [kept] = idle.splice(polled, 1)
        if (kept === undefined) return undefined
        if (isKept(kept)) return kept.connection
        kept.connection.destroy()
      }
    },
    size: () => idle.length,
    /** A connection is closed. If it was idle here, the server closed it. */
    gone(connection: Connection) {
      const at = idle.findIndex((kept) => kept.connection === connection)
      if (at === -1) return
      idle.splice(at, 1)
      limit.closedByServer(connection.idleMs())
    },
    /** Called by the clock of the pool: closes those that have been idle for too long. */
    tick() {
      ticks++
      for (let at = idle.length - 1; at >= 0; at--) {
        const kept = idle[at] as Idle
        if (isKept(kept)) continue
        idle.splice(at, 1)
        kept.connection.destroy()
      }
    },
  }
}
