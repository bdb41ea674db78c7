import { type Connector, createConnector, type TargetTls } from './connect.ts'
import { type Call, type Connection, openConnection } from './connection.ts'
import { type AnswerHandler, requestHead, type WireRequest } from './request-head.ts'
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
  resume(call: Call): void
  /** Ends every connection. What is under way fails. */
  destroy(): void
}

/** How long a connection is kept of which the server has not said how long it keeps it. */
const keptMs = 4000
const mostKeptMs = 600_000
/** How much earlier than the server we let go: a request must not meet the close. */
const earlierMs = 1000

/**
 * How many are being opened at a time. A server that is met by a thousand at once lets go of those
 * that its queue does not hold, and they are tried again a second later; meanwhile, connections that
 * are there come free.
 */
const mostOpening = 64

interface Idle {
  readonly connection: Connection
  /** The beat at which it is no longer used. */
  readonly until: number
}

/** Opens nothing until it is asked. `address`: the one way to go, where the name has several. */
export function createPool(
  origin: string,
  address: string | undefined,
  settings: PoolSettings,
): Pool {
  const url = new URL(origin)
  const { host } = url
  const connector: Connector = createConnector(url, address, settings.tls)
  const beatMs = beatOf(settings)
  const patience = {
    connect: beats(settings.connectTimeoutMs),
    answer: beats(settings.headersTimeoutMs),
    body: beats(settings.bodyTimeoutMs),
  }
  const all = new Set<Connection>()
  /** The one used last is used next: the others may go. */
  const idle: Idle[] = []
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
    for (let at = idle.length - 1; at >= 0; at--) {
      const kept = idle[at] as Idle
      if (isKept(kept)) continue
      idle.splice(at, 1)
      kept.connection.destroy()
    }
    for (const connection of all) connection.beat()
    if (all.size > 0) return
    clearInterval(clock)
    clock = undefined
  }
  function isKept({ connection, until }: Idle): boolean {
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
    const ms = keptMsOf(connection.keptSeconds())
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
      forUpgrade: call !== undefined,
      onFree(free) {
        settled()
        if (call !== undefined) startUpgrade(free, call)
        else serve(free)
      },
      onGone(gone, neverThere) {
        settled()
        all.delete(gone)
        if (neverThere !== undefined) failFor(neverThere, call)
        pump()
      },
    })
    if (call !== undefined) call.connection = connection
    all.add(connection)
  }
  /** A connection for an upgrade has one request, and what is left of it is nobody's. */
  function startUpgrade(connection: Connection, call: Call): void {
    if (call.over) connection.destroy()
    else connection.start(call)
  }
  function serve(connection: Connection): void {
    keep(connection)
    if (waiting.length > 0) pump()
  }
  /** A connection never was there: the request that it was for fails, if there is one. */
  function failFor(error: Error, upgrade: Call | undefined): void {
    if (upgrade !== undefined) end(upgrade, error)
    // Else, another one is on its way for each that waits.
    else if (opening < waiting.filter(isPlain).length) {
      const [first] = waiting.splice(waiting.findIndex(isPlain), 1)
      if (first !== undefined) end(first, error)
    }
  }
  function end(call: Call, error: Error): void {
    if (call.over) return
    call.over = true
    call.connection = undefined
    call.handler.failed(error)
  }

  /** Gives requests connections, and opens those that are missing. */
  function pump(): void {
    while (waiting.length > 0 && !destroyed) {
      const first = waiting[0] as Call
      if (isPlain(first)) {
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
    while (!destroyed && all.size < settings.connections && opening < mostOpening) {
      if (opening >= waiting.length || opening >= waiting.filter(isPlain).length) return
      open()
    }
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
      const head = requestHead(request, host)
      const call: Call = { request, head: head ?? '', handler, connection: undefined, over: false }
      if (destroyed || head === undefined) {
        queueMicrotask(() => end(call, destroyed ? gone() : unsendable()))
        return call
      }
      const connection = waiting.length > 0 || !isPlain(call) ? undefined : takeIdle()
      if (connection !== undefined) connection.start(call)
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
    resume: (call) => call.connection?.resume(),
    destroy() {
      destroyed = true
      clearInterval(clock)
      for (const call of waiting.splice(0)) end(call, gone())
      for (const connection of all) connection.destroy()
    },
  }
}

function isPlain({ request }: Call): boolean {
  return request.upgrade === undefined
}

function keptMsOf(seconds: number | undefined): number {
  if (seconds === undefined) return keptMs
  return Math.min(Math.max(seconds * 1000 - earlierMs, seconds * 500), mostKeptMs)
}

function unsendable(): WireError {
  return new WireError('unsendable', 'a request that would be read as another one', false)
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
