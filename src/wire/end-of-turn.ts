/** With so few requests there is little to batch, and waiting would cost more than it saves. */
const few = 4

let waiting: (() => void)[] = []
let inProgress = 0
/** The turns that ended with jobs. */
let turns = 0

export function callBegan(): void {
  inProgress++
}

/** Call it once for each `callBegan`. */
export function callEnded(): void {
  inProgress--
}

/**
 * Runs `job` at the end of this turn of the event loop, or at once under low load. Writes are then
 * batched, and only the first one has to wake the other process: a send to a sleeping process costs
 * twice as much. A job that throws does not keep the others from running.
 */
export function atEndOfTurn(job: () => void): void {
  if (inProgress <= few) job()
  else if (waiting.push(job) === 1) setImmediate(runAll)
}

/** How many turns of the event loop have ended with jobs. Two more: it has polled all sockets since. */
export function turnsSoFar(): number {
  return turns
}

function runAll(): void {
  turns++
  const due = waiting
  waiting = []
  let at = 0
  try {
    while (at < due.length) (due[at++] as () => void)()
  } finally {
    if (at < due.length) {
      waiting = due.slice(at).concat(waiting)
      setImmediate(runAll)
    }
  }
}
