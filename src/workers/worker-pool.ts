import type { Worker } from 'node:cluster'
import { Fault } from '../errors.ts'
import type { Log } from '../log/log.ts'
import type { WholeFigures } from '../metrics/aggregate.ts'
import { createBackOff } from './back-off.ts'
import { closeLost } from './lost-connections.ts'
import type { Listening, Start } from './messages.ts'
import { StartEnded } from './start-ended.ts'
import { createPlace, type Ending, type Place } from './worker-slot.ts'

interface CrewParts {
  readonly count: number
  readonly fork: () => Worker
  readonly start: Omit<Start, 'kind' | 'number'>
  readonly figures: WholeFigures
  readonly log: Log
  /** Settles when the whole gateway is told to end. */
  readonly told: Promise<void>
  /** What the whole gateway ends with, as things are. */
  readonly exitCode: () => number
}

/** The workers, however often a process among them is replaced. */
export interface Crew {
  readonly places: readonly Place[]
  /** Processes that took the place of one that had ended. */
  readonly restarts: () => number
  readonly isClosing: () => boolean
  /**
   * Starts the first worker, and when it listens the others: what is wrong for all of them is said
   * once. There is no half start: when one ends before all listen, this throws.
   */
  readonly start: () => Promise<Listening>
  /**
   * Ends all of them within that time. Those that have not ended when even more has passed are killed,
   * and that is a Fault.
   */
  readonly close: (withinMs: number, moreMs: number) => Promise<void>
}

const waits = 'signal to the only listening worker: it keeps serving until another listens'

/** A signal to the whole group reaches its members one after the other. */
const groupMs = 250

export function createCrew(parts: CrewParts): Crew {
  const { count, fork, start, figures, log, told, exitCode } = parts
  const started = Promise.withResolvers<Listening>()
  const allGone = Promise.withResolvers<void>()
  const bad = new Set<number>()
  const leavers = new Set<Place>()
  let phase: 'starting' | 'running' | 'closing' = 'starting'
  let restarts = 0

  const places = Array.from({ length: count }, (_, index) => makePlace(index + 1))

  function makePlace(number: number): Place {
    const backOff = createBackOff()
    const place: Place = createPlace({
      number,
      fork,
      start: { ...start, kind: 'start', number },
      listening: (listening) => nextStep(number, listening),
      counted: (counted) => figures.take(number, counted),
      leaving() {
        leavers.add(place)
        letLeave()
        // Not for a signal to the whole group, of which we have not heard yet.
        setTimeout(() => {
          if (leavers.has(place) && phase !== 'closing') log.warn({ worker: number }, waits)
        }, groupMs)
      },
      ended(ending) {
        figures.ended(number)
        leavers.delete(place)
        if (!places.some(isListening)) closeLost()
        if (phase === 'closing') gone(number, ending)
        else if (phase === 'starting') void failStart(number, ending)
        else replace(place, ending, backOff.after)
      },
    })
    return place
  }

  /** One at a time: those that leave together would leave the port without a listener. */
  function letLeave(): void {
    for (const place of leavers) {
      if (!places.some((other) => other !== place && isListening(other))) continue
      leavers.delete(place)
      place.leave()
    }
  }

  function nextStep(number: number, listening: Listening): void {
    advance(number, listening)
    letLeave()
  }

  function advance(number: number, listening: Listening): void {
    if (phase === 'running') log.info({ worker: number }, 'worker listening')
    if (phase !== 'starting') return
    if (number === 1) for (const place of places.slice(1)) place.fill()
    if (!places.every(isListening)) return
    phase = 'running'
    started.resolve(listening)
  }

  async function failStart(number: number, { code, signal, inOrder }: Ending): Promise<void> {
    phase = 'closing'
    for (const place of places) place.kill()
    const isTold = await Promise.race([told.then(() => true), pause(inOrder ? groupMs : 0)])
    // What is wrong, the worker has said itself.
    if (isTold === true) started.reject(new StartEnded(exitCode()))
    else if (code !== null && code !== 0) started.reject(new StartEnded(code))
    else {
      const reason = `worker ${number} exited before it was listening (${signal ?? `exit code ${code}`})`
      started.reject(new Fault('workers', { reason }))
    }
  }

  function replace(place: Place, ending: Ending, after: (servedMs: number) => number): void {
    const { pid, code, signal, servedMs, inOrder } = ending
    // An orderly end may be that of the whole group, of which we have not heard yet.
    const inMs = inOrder ? groupMs : after(servedMs)
    // Not `code`: log lines have that field taken out, for it is what captchas call their answer.
    const line = { worker: place.number, endedPid: pid, exitCode: code, signal, inMs }
    log[inOrder ? 'warn' : 'error'](line, 'worker exited; starting a replacement')
    setTimeout(() => {
      if (phase !== 'running') return
      restarts++
      place.fill()
    }, inMs)
  }

  function gone(number: number, { inOrder }: Ending): void {
    if (!inOrder) bad.add(number)
    if (places.every((place) => place.pid() === undefined)) allGone.resolve()
  }

  async function close(withinMs: number, moreMs: number): Promise<void> {
    phase = 'closing'
    for (const place of places) place.close(withinMs)
    if (places.every((place) => place.pid() === undefined)) return
    const cut = setTimeout(() => {
      for (const place of places) place.kill()
    }, withinMs + moreMs)
    await allGone.promise
    clearTimeout(cut)
    if (bad.size === 0) return
    const names = [...bad].sort().join(', ')
    throw new Fault('workers', { reason: `did not shut down cleanly: worker ${names}` })
  }

  return {
    places,
    restarts: () => restarts,
    isClosing: () => phase === 'closing',
    start() {
      places[0]?.fill()
      return started.promise
    },
    close,
  }
}

function isListening(place: Place): boolean {
  return place.state() === 'listening'
}

function pause(ms: number): Promise<undefined> {
  return new Promise((resolve) => setTimeout(resolve, ms, undefined))
}
