import { type Connector, createConnector, type TargetTls } from './connect.ts'
import { type Call, Connection } from './connection.ts'
import { createIdleConnections } from './idle-connections.ts'
import type { OnLookup } from './name-lookup.ts'
import { type ResponseHandler, requestHead, type WireRequest } from './request-head.ts'
import { unsent, WireError } from './wire-error.ts'

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
  readonly onLookup?: OnLookup | undefined
}

/** Connections to one origin, kept for the next request. */
export interface Pool {
  /**
   * Sends a request as soon as there is a connection for it; requests wait in the order they came.
   * `fresh`: on a new connection, since one that was idle has just turned out to be closed.
   */
  send(request: WireRequest, handler: ResponseHandler, fresh?: boolean): Call
  /** Nobody waits for it any more: its handler hears nothing from now on. */
  abort(call: Call): void
  resume(call: Call): void
  /** How many connections it has, those that are being opened included. */
  size(): number
  /** Opens a connection, to be kept for the next request, and says whether that succeeded. */
  connect(settled: (isConnected: boolean) => void): void
  /** Ends every connection. What is under way fails. */
  destroy(): void
}

/**
 * How many are being opened at a time. A server that is met by a thousand at once lets go of those
 * that its queue does not hold, and they are tried again a second later; meanwhile, connections that
 * are there come free.
 */
const maxOpening = 64

/** Opens nothing until it is asked. `address`: the one way to go, where the name has several. */
export function createPool(
  origin: string,
  address: string | undefined,
  settings: PoolSettings,
): Pool {
  const url = new URL(origin)
  const { host } = url
  const connector: Connector = createConnector(url, address, settings.tls, settings.onLookup)
  const tickMs = tickOf(settings)
  const timeouts = {
    connect: ticks(settings.connectTimeoutMs),
    response: ticks(settings.headersTimeoutMs),
    body: ticks(settings.bodyTimeoutMs),
  }
  const all = new Set<Connection>()
  const idle = createIdleConnections(tickMs)
  let waiting: Call[] = []
  let opening = 0
  /** Those that are being opened for one request each. */
  let openingFresh = 0
  let clock: NodeJS.Timeout | undefined
  let destroyed = false

  /** One more than it takes, since the tick that is under way has begun before. */
  function ticks(ms: number): number {
    return Math.ceil(ms / tickMs) + 1
  }

  function tick(): void {
    idle.tick()
    for (const connection of all) connection.tick()
    if (all.size > 0) return
    clearInterval(clock)
    clock = undefined
  }

  /** Opens a connection, for this request if one is given, else for the first that waits. */
  function open(first?: Call, onSettled?: (isConnected: boolean) => void): void {
    clock ??= setInterval(tick, tickMs).unref()
    const isFresh = first !== undefined
    const forUpgrade = first?.request.upgrade !== undefined
    // Forgotten when it has begun: a connection that lives on must not hold on to it.
    let call = first
    if (isFresh) openingFresh++
    else opening++
    let isOpening = true
    const settled = (isConnected: boolean) => {
      if (!isOpening) return
      isOpening = false
      if (isFresh) openingFresh--
      else opening--
      onSettled?.(isConnected)
    }
    const connection = new Connection({
      connector,
      timeouts,
      forUpgrade,
      onFree(free) {
        settled(true)
        const mine = call
        call = undefined
        if (mine !== undefined && !mine.ended) free.start(mine)
        // After an upgrade was refused, the bytes are not known to be those of another response.
        else if (forUpgrade) free.destroy()
        else idle.keep(free)
        if (waiting.length > 0) pump()
      },
      onGone(gone, neverConnected) {
        settled(false)
        all.delete(gone)
        idle.gone(gone)
        if (neverConnected !== undefined) failFor(neverConnected, call)
        pump()
      },
    })
    if (call !== undefined) call.connection = connection
    all.add(connection)
  }
  /** A connection never was there: the request that it was for fails, if there is one. */
  function failFor(error: Error, fresh: Call | undefined): void {
    if (fresh !== undefined) end(fresh, error)
    // Else, another one is on its way for each that waits.
    else if (opening < waiting.filter(mayShare).length) {
      const [first] = waiting.splice(waiting.findIndex(mayShare), 1)
      if (first !== undefined) end(first, error)
    }
  }
  function end(call: Call, error: Error): void {
    if (call.ended) return
    call.ended = true
    call.connection = undefined
    call.handler.failed(error)
  }

  /** Gives requests connections, and opens those that are missing. */
  function pump(): void {
    while (waiting.length > 0 && !destroyed) {
      const first = waiting[0] as Call
      if (mayShare(first)) {
        const connection = idle.take()
        if (connection === undefined) break
        waiting.shift()
        connection.start(first)
      } else {
        if (opening + openingFresh >= maxOpening) return
        if (all.size >= settings.connections && !dropIdle()) return
        waiting.shift()
        open(first)
      }
    }
    while (!destroyed && all.size < settings.connections && opening + openingFresh < maxOpening) {
      if (opening >= waiting.length || opening >= waiting.filter(mayShare).length) return
      open()
    }
  }
  function dropIdle(): boolean {
    const connection = idle.take()
    if (connection === undefined) return false
    all.delete(connection)
    connection.destroy()
    return true
  }

  return {
    send(request, handler, fresh = false) {
      const head = requestHead(request, host)
      const call: Call = {
        request,
        head: head ?? '',
        handler,
        fresh: fresh || request.upgrade !== undefined,
        connection: undefined,
        ended: false,
      }
      if (destroyed || head === undefined) {
        queueMicrotask(() => end(call, destroyed ? gone() : unsendable()))
        return call
      }
      const connection = waiting.length > 0 || call.fresh ? undefined : idle.take()
      if (connection !== undefined) connection.start(call)
      else {
        waiting.push(call)
        pump()
      }
      return call
    },
    abort(call) {
      if (call.ended) return
      call.ended = true
      if (call.connection === undefined) waiting = waiting.filter((other) => other !== call)
      else call.connection.abandon()
    },
    resume: (call) => call.connection?.resume(),
    size: () => all.size,
    connect(settled) {
      if (destroyed || all.size >= settings.connections) settled(false)
      else open(undefined, settled)
    },
    destroy() {
      destroyed = true
      clearInterval(clock)
      for (const call of waiting.splice(0)) end(call, gone())
      for (const connection of all) connection.destroy()
    },
  }
}

function mayShare({ fresh }: Call): boolean {
  return !fresh
}

function unsendable(): WireError {
  return new WireError('unsendable', 'request cannot be sent unambiguously', unsent)
}

function gone(): WireError {
  return new WireError('destroyed', 'target removed', unsent)
}

/** Often enough to keep the shortest limit within a tenth of itself. */
function tickOf(settings: PoolSettings): number {
  const { connectTimeoutMs, headersTimeoutMs, bodyTimeoutMs } = settings
  const shortest = Math.min(connectTimeoutMs, headersTimeoutMs, bodyTimeoutMs)
  return Math.min(250, Math.max(5, Math.ceil(shortest / 10)))
}
