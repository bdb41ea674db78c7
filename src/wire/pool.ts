import { type Connector, createConnector, type TargetTls } from './connect.ts'
import { type Call, type Connection, openConnection } from './connection.ts'
import type { AnswerHandler, WireRequest } from './request-head.ts'
import { WireError } from './wire-error.ts'

export type { Call } from './connection.ts'

export interface PoolSettings {
  /** The most connections at a time. */
  readonly connections: number
  readonly connectTimeoutMs: number
  /** From the end of a request to the end of the head of its answer. */
  readonly headersTimeoutMs: number
  /** The longest pause within an answer. */
  readonly bodyTimeoutMs: number
  readonly tls?: TargetTls | undefined
}

/** Connections to one origin, kept for the next request. */
export interface Pool {
  /** Sends a request as soon as there is a connection for it; requests wait in the order they came. */
  send(request: WireRequest, handler: AnswerHandler): Call
  /** Nobody waits for it any more: its handler hears nothing from now on. */
  abort(call: Call): void
  pause(call: Call): void
  resume(call: Call): void
  /** Ends every connection. What is under way fails. */
  destroy(): void
}

/** How long a connection is kept of which the server has not said how long it keeps it. */
const keptMs = 4000
const mostKeptMs = 600_000
/** How much earlier than the server we let go: a request must not meet the close. */
const earlierMs = 1000

/** Opens nothing until it is asked. `address`: the one way to go, where the name has several. */
export function createPool(
  origin: string,
  address: string | undefined,
  settings: PoolSettings,
): Pool {
  const url = new URL(origin)
  const connector: Connector = createConnector(url, address, settings.tls)
  const beatMs = beatOf(settings)
  const patience = {
    connect: beats(settings.connectTimeoutMs),
    answer: beats(settings.headersTimeoutMs),
    body: beats(settings.bodyTimeoutMs),
  }
  const all = new Set<Connection>()
  /** The one used last is used next: the others may go. */
  const idle: { readonly connection: Connection; readonly until: number }[] = []
  let waiting: Call[] = []
  let opening = 0
  let beatCount = 0
  let clock: NodeJS.Timeout | undefined
  let destroyed = false

  /** One more than it takes, since the beat that is under way has begun before. */
  function beats(ms: number): number {
    return Math.ceil(ms / beatMs) + 1
  }

  function beat(): void {
    beatCount++
    while (idle[0] !== undefined && !isKept(idle[0])) idle.shift()?.connection.destroy()
    for (const connection of all) connection.beat()
    if (all.size > 0) return
    clearInterval(clock)
    clock = undefined
  }
  function isKept({ connection, until }: { connection: Connection; until: number }): boolean {
    return until > beatCount && connection.isFree()
  }
  function takeIdle(): Connection | undefined {
    for (let kept = idle.pop(); kept !== undefined; kept = idle.pop()) {
      if (isKept(kept)) return kept.connection
      kept.connection.destroy()
    }
    return undefined
  }
  function keep(connection: Connection): void {
    const seconds = connection.keptSeconds()
    const ms = seconds === undefined ? keptMs : Math.min(seconds * 1000 - earlierMs, mostKeptMs)
    if (ms <= 0) connection.destroy()
    else idle.push({ connection, until: beatCount + Math.ceil(ms / beatMs) })
  }

  function open(call?: Call): void {
    clock ??= setInterval(beat, beatMs).unref()
    if (call === undefined) opening++
    let isOpening = true
    const settled = () => {
      if (isOpening && call === undefined) opening--
      isOpening = false
    }
    const connection = openConnection({
      connector,
      patience,
      ownHost: url.host,
      forUpgrade: call !== undefined,
      onFree(free) {
        settled()
        if (call !== undefined) startUpgrade(free, call)
        else serve(free)
      },
      onGone(gone, neverThere) {
        settled()
        all.delete(gone)
        if (neverThere !== undefined) failNext(neverThere, call)
        pump()
      },
    })
    all.add(connection)
  }
  /** A connection for an upgrade has one request, and what is left of it is nobody's. */
  function startUpgrade(connection: Connection, call: Call): void {
    if (call.over) connection.destroy()
    else connection.start(call)
  }
  function serve(connection: Connection): void {
    if (waiting.length === 0) keep(connection)
    else {
      idle.push({ connection, until: beatCount + 1 })
      pump()
    }
  }
  function failNext(error: Error, upgrade: Call | undefined): void {
    const call = upgrade ?? waiting.shift()
    if (call === undefined || call.over) return
    call.over = true
    call.handler.failed(error)
  }

  /** Gives requests connections, and opens those that are missing. */
  function pump(): void {
    while (waiting.length > 0 && !destroyed) {
      const first = waiting[0] as Call
      if (first.request.upgrade === undefined) {
        const connection = takeIdle()
        if (connection === undefined) break
        waiting.shift()
        connection.start(first)
      } else {
        if (all.size >= settings.connections && !dropIdle()) return
        waiting.shift()
        open(first)
      }
    }
    while (opening < waiting.length && all.size < settings.connections && !destroyed) open()
  }
  function dropIdle(): boolean {
    const connection = takeIdle()
    if (connection === undefined) return false
    all.delete(connection)
    connection.destroy()
    return true
  }

  return {
    send(request, handler) {
      const call: Call = { request, handler, connection: undefined, over: false }
      const connection =
        waiting.length > 0 || request.upgrade !== undefined ? undefined : takeIdle()
      if (connection !== undefined) connection.start(call)
      else if (destroyed) queueMicrotask(() => failNext(gone(), call))
      else {
        waiting.push(call)
        pump()
      }
      return call
    },
    abort(call) {
      if (call.over) return
      call.over = true
      if (call.connection === undefined) waiting = waiting.filter((other) => other !== call)
      else call.connection.abandon()
    },
    pause: (call) => call.connection?.pause(),
    resume: (call) => call.connection?.resume(),
    destroy() {
      destroyed = true
      clearInterval(clock)
      for (const call of waiting.splice(0)) failNext(gone(), call)
      for (const connection of all) connection.destroy()
    },
  }
}

function gone(): WireError {
  return new WireError('destroyed', 'the target is no longer used', false)
}

/** Often enough to keep the shortest limit within a tenth of itself. */
function beatOf(settings: PoolSettings): number {
  const { connectTimeoutMs, headersTimeoutMs, bodyTimeoutMs } = settings
  const shortest = Math.min(connectTimeoutMs, headersTimeoutMs, bodyTimeoutMs)
  return Math.min(250, Math.max(5, Math.ceil(shortest / 10)))
}
