import type { ChildProcess } from 'node:child_process'
import type { Worker } from 'node:cluster'
import type { Answers, FromWorker, Listening, Question, Start, ToWorker } from './messages.ts'

/**
 * What a place of the crew is doing:
 *
 *   waiting    has no process; the next one is on its way
 *   starting   has one that does not listen yet
 *   listening  takes requests
 *   closing    takes no new connection, and ends
 */
type PlaceState = 'waiting' | 'starting' | 'listening' | 'closing'

/** How one process ended. */
export interface Ending {
  readonly pid: number | undefined
  readonly code: number | null
  readonly signal: string | null
  /** How long it had listened; nought when it never did. */
  readonly servedMs: number
  /** Somebody told it to: it ended with 0, or by a signal that came before it could hear one. */
  readonly inOrder: boolean
}

interface PlaceEvents {
  readonly listening: (listening: Listening) => void
  readonly counted: (figures: Answers['figures']) => void
  /** It wants to close its listeners, and waits for `leave`. */
  readonly leaving: () => void
  readonly ended: (ending: Ending) => void
}

/** How long a question may stay open. Whoever asks for metrics or readiness waits for it. */
const answerMs = 1000

/** A worker's place: one process at a time, and what is known about it. */
export interface Place {
  readonly number: number
  readonly state: () => PlaceState
  readonly pid: () => number | undefined
  /** Starts a process here. */
  readonly fill: () => void
  /** Has it end in order. One that cannot hear yet is told so as the first thing. */
  readonly close: (withinMs: number) => void
  /** Lets it close its listeners. From now on it counts as closing. */
  readonly leave: () => void
  /** `undefined` when there is no process, or no answer in time. */
  readonly ask: <Q extends Question>(question: Q) => Promise<Answers[Q] | undefined>
  readonly kill: () => void
  /** Tells it to cut what is open. */
  readonly hurry: () => void
}

interface PlaceParts extends PlaceEvents {
  readonly number: number
  readonly fork: () => Worker
  readonly start: Start
}

export function createPlace({ number, fork, start, ...events }: PlaceParts): Place {
  const open = new Map<number, (answer: Answers[Question] | undefined) => void>()
  let worker: Worker | undefined
  let child: ChildProcess | undefined
  let state: PlaceState = 'waiting'
  let listeningSince: number | undefined
  /** How long it may take to end, once it is told to. */
  let closingMs: number | undefined
  let lastId = 0

  function heard(message: FromWorker): void {
    if (message.kind === 'hello') {
      tell(closingMs === undefined ? start : { kind: 'close', withinMs: closingMs })
    } else if (message.kind === 'listening') {
      state = 'listening'
      listeningSince = performance.now()
      events.listening(message)
    } else if (message.kind === 'answer') open.get(message.id)?.(message.answer)
    else if (message.kind === 'leaving') events.leaving()
    else if (message.kind === 'closing') state = 'closing'
    else {
      events.counted(message.figures)
      tell({ kind: 'bye' })
    }
  }

  function ended(code: number | null, signal: string | null): void {
    if (state === 'waiting') return
    const pid = child?.pid
    const servedMs = listeningSince === undefined ? 0 : performance.now() - listeningSince
    worker = undefined
    child = undefined
    state = 'waiting'
    listeningSince = undefined
    for (const answer of open.values()) answer(undefined)
    const inOrder = code === 0 || signal === 'SIGTERM' || signal === 'SIGINT'
    events.ended({ pid, code, signal, servedMs, inOrder })
  }

  function take(forked: Worker): void {
    worker = forked
    child = forked.process
    const { pid } = child
    forked.on('message', heard)
    forked.on('exit', ended)
    // A process that the system could not start has no exit. One that could not be told something
    // is about to have one.
    forked.on('error', () => pid === undefined && ended(null, null))
  }

  function tell(message: ToWorker): void {
    // That it could not be told shows in its end, which is on its way.
    if (worker?.isConnected()) worker.send(message, () => {})
  }

  return {
    number,
    state: () => state,
    pid: () => child?.pid,
    fill() {
      state = 'starting'
      try {
        take(fork())
      } catch {
        // No memory for another process, which is no reason to end those that are there.
        setImmediate(ended, null, null)
      }
    },
    close(withinMs) {
      closingMs = withinMs
      tell({ kind: 'close', withinMs })
    },
    leave() {
      state = 'closing'
      tell({ kind: 'leave' })
    },
    async ask<Q extends Question>(question: Q) {
      if (worker === undefined || state === 'starting') return undefined
      const id = ++lastId
      const { promise, resolve } = Promise.withResolvers<Answers[Question] | undefined>()
      open.set(id, resolve)
      const timer = setTimeout(resolve, answerMs, undefined)
      tell({ kind: 'ask', id, question })
      const answer = await promise
      clearTimeout(timer)
      open.delete(id)
      return answer as Answers[Q] | undefined
    },
    kill: () => void child?.kill('SIGKILL'),
    hurry: () => tell({ kind: 'hurry' }),
  }
}
