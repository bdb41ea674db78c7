/** Up to so many at a time there is hardly one to leave with, and waiting would cost more than it saves. */
const few = 4

let waiting: (() => void)[] = []
let underWay = 0

/** One more request has a connection. */
export function callBegan(): void {
  underWay++
}

/** One request less; to be told of each that began. */
export function callEnded(): void {
  underWay--
}

/**
 * Runs `job` when all that came with this turn of the loop has been read, or at once where little
 * is going on. What is sent then leaves together, and only the first of it has to wake the other
 * end: a send to somebody asleep costs twice as much. A job that throws keeps no other from running.
 */
export function atEndOfTurn(job: () => void): void {
  if (underWay <= few) job()
  else if (waiting.push(job) === 1) setImmediate(runAll)
}

function runAll(): void {
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
