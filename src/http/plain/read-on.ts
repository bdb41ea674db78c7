/** More than this in one turn of the event loop would delay all other connections. */
const perTurn = 16

let left = perTurn

/**
 * Reads the next request that a client has sent ahead, once the one before has its response. Mostly at
 * once: with a turn of the event loop for each request, a busy machine makes the client wait for the
 * CPU before every response. The limit is for all connections together.
 */
export function readOn(job: () => void): void {
  if (left === 0) {
    setImmediate(job)
    return
  }
  if (left === perTurn) setImmediate(beginTurn)
  left--
  queueMicrotask(job)
}

function beginTurn(): void {
  left = perTurn
}
