/** The idle timeout of connections whose server announces none. */
const defaultMs = 4000
const maxMs = 600_000
/** How much earlier than the server we close: a request must not meet the close. */
const earlierMs = 1000

/** A server that closes sooner does not do so because of a timeout: it restarts, or sweeps. */
const shortestMs = 400
/** The share of an observed timeout that we keep a connection for. */
const observedShare = 0.75
/** How often we try whether the server keeps connections for longer by now, and by how much. */
const relaxEveryMs = 60_000
const relaxBy = 1.5

/**
 * How long connections to a server may be idle: less than the server allows, so that we close
 * first. For one server. `most`: the limit that the operator sets. `now` gives milliseconds.
 */
export function createIdleLimit(most?: number, now = () => performance.now()) {
  let observed = Number.POSITIVE_INFINITY
  let relaxAt = Number.POSITIVE_INFINITY

  return {
    /** In milliseconds; `announced` is what the server's Keep-Alive header says, in seconds. */
    of(announced: number | undefined) {
      if (observed !== Number.POSITIVE_INFINITY && now() >= relaxAt) {
        observed = observed >= maxMs ? Number.POSITIVE_INFINITY : observed * relaxBy
        relaxAt = now() + relaxEveryMs
      }
      return Math.min(limitOf(announced, most), observed)
    },
    /** The server closed a connection that had been idle for so long. */
    closedByServer(idleMs: number) {
      if (idleMs < shortestMs) return
      observed = Math.min(observed, idleMs * observedShare)
      relaxAt = now() + relaxEveryMs
    },
  }
}

function limitOf(announced: number | undefined, most: number | undefined): number {
  if (announced === undefined) return most ?? defaultMs
  return Math.min(Math.max(announced * 1000 - earlierMs, announced * 500), most ?? maxMs)
}
