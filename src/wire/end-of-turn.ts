/** With so few requests there is little to batch, and waiting would cost more than it saves. */
const few = 4

let waiting: (() => void)[] = []
let inProgress = 0
let turns = 0
let isEndAwaited = false

export function callBegan(): void {
  inProgress++
}

/** Call it once for each `callBegan`. */
export function callEnded(): void {
  inProgress--
}

/**
 * Runs `job` at the end of this turn of the event loop, or at once under low load unless it `mustWait`.
 * Writes are then batched, and only the first one has to wake the other process: a send to a sleeping
 * process costs twice as much. A job that throws does not keep the others from running.
 */
export function atEndOfTurn(job: () => void, mustWait = false): void {
  if (!mustWait && inProgress <= few) job()
  else {
    waiting.push(job)
    awaitEnd()
  }
}

/**
 * The number of this turn, for a socket that begins to wait now. At the end of the turn with the next
 * number but one, the event loop has polled it since.
 */
export function numberThisTurn(): number {
  awaitEnd()
  return turns
}

/** The number of the turn that runs: only turns that `numberThisTurn` or a job asked for are counted. */
export function turnsSoFar(): number {
  return turns
}

function awaitEnd(): void {
  if (isEndAwaited) return
  isEndAwaited = true
  setImmediate(endTurn)
}

function endTurn(): void {
  turns++
  isEndAwaited = false
  const due = waiting
  waiting = []
  let at = 0
  try {
    while (at < due.length) (due[at++] as () => void)()
  } finally {
    if (at < due.length) {
      waiting = due.slice(at).concat(waiting)
      awaitEnd()
    }
  }
}
