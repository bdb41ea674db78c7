import type { ChildProcess } from 'node:child_process'
import type { Worker } from 'node:cluster'
import type { Config } from '../config/schema/schema.ts'
import { closeSentTo, noteHandOvers } from './lost-connections.ts'
import type { Answers, FromWorker, Listening, Question, Start, ToWorker } from './messages.ts'

/**
 *   waiting    no process; the next one has not started yet
 *   starting   its process does not listen yet
 *   listening  takes requests
 *   closing    takes no new connections, and shuts down
 */
type SlotState = 'waiting' | 'starting' | 'listening' | 'closing'

/** How one process exited. */
export interface Exit {
  readonly pid: number | undefined
  readonly code: number | null
  readonly signal: string | null
  /** How long it had listened; 0 when it never did. */
  readonly servedMs: number
  /** It exited with 0, or by a signal that came before its handler was installed. */
  readonly inOrder: boolean
}

interface SlotEvents {
  readonly listening: (listening: Listening) => void
  readonly counted: (metrics: Answers['metrics']) => void
  /** It wants to close its listeners, and waits for `leave`. */
  readonly leaving: () => void
  readonly exited: (exit: Exit) => void
}

/** Scrapes and probes wait for answers, so they have to be quick. */
const answerMs = 1000

/** One of the workers: a process at a time, and its state. */
export type WorkerSlot = ReturnType<typeof createWorkerSlot>

interface SlotParts extends SlotEvents {
  readonly number: number
  readonly fork: () => Worker
  readonly start: Start
}

export function createWorkerSlot({ number, fork, start, ...events }: SlotParts) {
  const open = new Map<number, (answer: Answers[Question] | undefined) => void>()
  let worker: Worker | undefined
  let child: ChildProcess | undefined
  let state: SlotState = 'waiting'
  let listeningSince: number | undefined
  /** Set once it has to shut down. */
  let closingMs: number | undefined
  let lastId = 0
  let configurationError: string | undefined
  let { config } = start

  function onMessage(message: FromWorker): void {
    if (message.kind === 'hello') {
      send(closingMs === undefined ? { ...start, config } : { kind: 'close', withinMs: closingMs })
    } else if (message.kind === 'listening') {
      state = 'listening'
      listeningSince = performance.now()
      events.listening(message)
    } else if (message.kind === 'answer') open.get(message.id)?.(message.answer)
    else if (message.kind === 'configured') configurationError = message.problem
    else if (message.kind === 'leaving') events.leaving()
    else if (message.kind === 'closing') state = 'closing'
    else {
      events.counted(message.metrics)
      send({ kind: 'bye' })
    }
  }

  function onExit(code: number | null, signal: string | null): void {
    if (state === 'waiting') return
    const pid = child?.pid
    if (child !== undefined) closeSentTo(child)
    const servedMs = listeningSince === undefined ? 0 : performance.now() - listeningSince
    worker = undefined
    child = undefined
    state = 'waiting'
    listeningSince = undefined
    configurationError = undefined
    for (const answer of open.values()) answer(undefined)
    const inOrder = code === 0 || signal === 'SIGTERM' || signal === 'SIGINT'
    events.exited({ pid, code, signal, servedMs, inOrder })
  }

  function attach(forked: Worker): void {
    worker = forked
    child = forked.process
    const { pid } = child
    noteHandOvers(child)
    forked.on('message', onMessage)
    forked.on('exit', onExit)
    // A process that could not be spawned has no exit event. After a failed send the exit event follows.
    forked.on('error', () => pid === undefined && onExit(null, null))
  }

  function send(message: ToWorker): void {
    // A failed send means that the process is exiting, and its exit event follows.
    if (worker?.isConnected()) worker.send(message, () => {})
  }

  return {
    number,
    state: (): SlotState => state,
    pid: () => child?.pid,
    /** Starts a process. */
    fill() {
      state = 'starting'
      try {
        attach(fork())
      } catch {
        // No memory for another process must not end those that run.
        setImmediate(onExit, null, null)
      }
    },
    /** Shuts it down in order; a process that does not receive messages yet gets this as its first. */
    close(withinMs: number) {
      closingMs = withinMs
      send({ kind: 'close', withinMs })
    },
    /** Lets it close its listeners. It counts as closing from now on. */
    leave() {
      state = 'closing'
      send({ kind: 'leave' })
    },
    /** `undefined` without a process, or without an answer in time. */
    async ask<Q extends Question>(question: Q) {
      if (worker === undefined || state === 'starting') return undefined
      const id = ++lastId
      const { promise, resolve } = Promise.withResolvers<Answers[Question] | undefined>()
      open.set(id, resolve)
      const timer = setTimeout(resolve, answerMs, undefined)
      send({ kind: 'ask', id, question })
      const answer = await promise
      clearTimeout(timer)
      open.delete(id)
      return answer as Answers[Q] | undefined
    },
    /** Serves by this configuration: the process that runs, and those that replace it. */
    configure(next: Config) {
      config = next
      if (state !== 'waiting') send({ kind: 'configure', config })
    },
    /** Why its process serves by an older configuration, if it does. */
    configurationError: () => configurationError,
    kill: () => void child?.kill('SIGKILL'),
    /** Makes it close open connections now. */
    abort: () => send({ kind: 'abort' }),
  }
}
