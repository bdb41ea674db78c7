import type { Worker } from 'node:cluster'
import type { Config } from '../config/schema/schema.ts'
import { createBackOff } from '../kernel/back-off.ts'
import { Fault } from '../kernel/errors.ts'
import type { Log } from '../log/log.ts'
import type { AggregateMetrics } from '../metrics/aggregate.ts'
import { closeLost } from './lost-connections.ts'
import type { Listening, Start } from './messages.ts'
import { StartEnded } from './start-ended.ts'
import { createWorkerSlot, type Exit, type WorkerSlot } from './worker-slot.ts'

interface WorkerPoolParts {
  readonly count: number
  readonly fork: () => Worker
  readonly start: Omit<Start, 'kind' | 'number'>
  readonly metrics: AggregateMetrics
  readonly log: Log
  /** Settles when the shutdown of the gateway begins. */
  readonly shutdownBegun: Promise<void>
  /** The exit code of the gateway as of now. */
  readonly exitCode: () => number
}

/** A fixed number of worker slots, whose processes are replaced when they exit. */
export type WorkerPool = ReturnType<typeof createWorkerPool>

const onlyListener = 'signal to the only listening worker: it keeps serving until another listens'

/** A signal to a process group reaches its members one after the other. */
const groupMs = 250

export function createWorkerPool(parts: WorkerPoolParts) {
  const { count, fork, start, metrics, log, shutdownBegun, exitCode } = parts
  const started = Promise.withResolvers<Listening>()
  const allExited = Promise.withResolvers<void>()
  const failed = new Set<number>()
  const leavers = new Set<WorkerSlot>()
  let phase: 'starting' | 'running' | 'closing' = 'starting'
  let restarts = 0

  const slots = Array.from({ length: count }, (_, index) => makeSlot(index + 1))

  function makeSlot(number: number): WorkerSlot {
    const backOff = createBackOff()
    const slot: WorkerSlot = createWorkerSlot({
      number,
      fork,
      start: { ...start, kind: 'start', number },
      listening: (listening) => onListening(number, listening),
      counted: (counted) => metrics.take(number, counted),
      leaving() {
        leavers.add(slot)
        letLeave()
        // Not for a signal to the process group that has not reached the supervisor yet.
        setTimeout(() => {
          if (leavers.has(slot) && phase !== 'closing') log.warn({ worker: number }, onlyListener)
        }, groupMs)
      },
      exited(exit) {
        metrics.ended(number)
        leavers.delete(slot)
        if (!slots.some(isListening)) closeLost()
        if (phase === 'closing') noteExit(number, exit)
        else if (phase === 'starting') void failStart(number, exit)
        else replace(slot, exit, backOff.after)
      },
    })
    return slot
  }

  /** One at a time: workers that leave together would leave the port without a listener. */
  function letLeave(): void {
    for (const slot of leavers) {
      if (!slots.some((other) => other !== slot && isListening(other))) continue
      leavers.delete(slot)
      slot.leave()
    }
  }

  function onListening(number: number, listening: Listening): void {
    advance(number, listening)
    letLeave()
  }

  function advance(number: number, listening: Listening): void {
    if (phase === 'running') log.info({ worker: number }, 'worker listening')
    if (phase !== 'starting') return
    if (number === 1) for (const slot of slots.slice(1)) slot.fill()
    if (!slots.every(isListening)) return
    phase = 'running'
    started.resolve(listening)
  }

  async function failStart(number: number, { code, signal, inOrder }: Exit): Promise<void> {
    phase = 'closing'
    for (const slot of slots) slot.kill()
    const isShutdown = await Promise.race([
      shutdownBegun.then(() => true),
      pause(inOrder ? groupMs : 0),
    ])
    // The worker has logged the reason itself.
    if (isShutdown === true) started.reject(new StartEnded(exitCode()))
    else if (code !== null && code !== 0) started.reject(new StartEnded(code))
    else {
      const reason = `worker ${number} exited before it was listening (${signal ?? `exit code ${code}`})`
      started.reject(new Fault('workers', { reason }))
    }
  }

  function replace(slot: WorkerSlot, exit: Exit, after: (servedMs: number) => number): void {
    const { pid, code, signal, servedMs, inOrder } = exit
    // A clean exit may follow a signal to the process group that has not reached us yet.
    const inMs = inOrder ? groupMs : after(servedMs)
    // Not `code`: the log redacts that field, because it holds the answer of a captcha.
    const line = { worker: slot.number, endedPid: pid, exitCode: code, signal, inMs }
    log[inOrder ? 'warn' : 'error'](line, 'worker exited; starting a replacement')
    setTimeout(() => {
      if (phase !== 'running') return
      restarts++
      slot.fill()
    }, inMs)
  }

  function noteExit(number: number, { inOrder }: Exit): void {
    if (!inOrder) failed.add(number)
    if (slots.every((slot) => slot.pid() === undefined)) allExited.resolve()
  }

  /**
   * Shuts all workers down within that time. Kills those that need `moreMs` longer, and throws a
   * Fault.
   */
  async function close(withinMs: number, moreMs: number): Promise<void> {
    phase = 'closing'
    for (const slot of slots) slot.close(withinMs)
    if (slots.every((slot) => slot.pid() === undefined)) return
    const cut = setTimeout(() => {
      for (const slot of slots) slot.kill()
    }, withinMs + moreMs)
    await allExited.promise
    clearTimeout(cut)
    if (failed.size === 0) return
    const names = [...failed].sort().join(', ')
    throw new Fault('workers', { reason: `did not shut down cleanly: worker ${names}` })
  }

  return {
    slots,
    /** How many processes replaced one that had exited. */
    restarts: () => restarts,
    isClosing: () => phase === 'closing',
    /**
     * Starts the first worker, and the others when it listens, so that a common problem is reported once.
     * Throws when one exits before all listen.
     */
    start() {
      slots[0]?.fill()
      return started.promise
    },
    /** Has every worker serve by this configuration. Settles when those that answer do. */
    async configure(config: Config) {
      for (const slot of slots) slot.configure(config)
      await Promise.all(slots.map((slot) => slot.ask('publicKeys')))
    },
    close,
  }
}

function isListening(slot: WorkerSlot): boolean {
  return slot.state() === 'listening'
}

function pause(ms: number): Promise<undefined> {
  return new Promise((resolve) => setTimeout(resolve, ms, undefined))
}
