import { type Connector, createConnector, type TargetTls } from './connect.ts'
import { type Call, Connection, type PlainCall } from './connection.ts'
import { createIdleConnections, type IdleConnections } from './idle-connections.ts'
import type { OnLookup } from './name-lookup.ts'
import { type ResponseHandler, requestHead, type WireRequest } from './request-head.ts'
import { PoolTicks } from './timeout-ticks.ts'
import { unsent, WireError } from './wire-error.ts'

export type { Call } from './connection.ts'

export interface PoolSettings {
  /** The most connections at a time. */
  readonly connections: number
  readonly connectTimeoutMs: number
  /** From the end of a request to the end of the head of its response. */
  readonly headersTimeoutMs: number
  /** The longest pause within a response. */
  readonly bodyTimeoutMs: number
  /** How long a connection may be idle; unset: as long as the server keeps it. */
  readonly idleTimeoutMs?: number | undefined
  readonly tls?: TargetTls | undefined
  readonly onLookup?: OnLookup | undefined
  readonly onConnect?: OnConnect | undefined
  /** Unset: HTTP/1.1. */
  readonly protocol?: Protocol | undefined
  readonly http2?: Http2Settings | undefined
}

/**
 * An attempt to connect has ended: with the reason, if it failed. Returns whether requests should wait for
 * further attempts.
 */
export type OnConnect = (error: Error | undefined) => boolean

/**
 * What a server speaks. `h2`: HTTP/2 over TLS. `h2c`: HTTP/2 without TLS, by prior knowledge. `auto`: over
 * TLS, what the server chooses for each connection.
 */
type Protocol = 'http1' | 'h2' | 'h2c' | 'auto'

interface Http2Settings {
  /** The most requests at a time on one connection; the server may allow fewer. */
  readonly streams: number
  /** After so much silence on a connection with requests, a PING is sent; 0: never. */
  readonly pingMs: number
  /** After so much silence while a request waits for its response, a first PING is sent. */
  readonly earlyPingMs?: number | undefined
  /** How long a PING may be unanswered before the connection is closed. */
  readonly pingTimeoutMs?: number | undefined
  /** A connection gets no new requests after this time; 0: no limit. */
  readonly maxAgeMs: number
}

/** Persistent connections to one origin. */
export interface Pool {
  /**
   * Sends a request as soon as it gets a connection; requests wait in the order of their calls.
   * `fresh`: on a new connection, since an idle one has just turned out to be closed.
   */
  send(request: WireRequest, handler: ResponseHandler, fresh?: boolean): Call
  /** Aborts a request. Its handler gets no more events. */
  abort(call: Call): void
  resume(call: Call): void
  /** The number of connections, including those that are connecting. */
  size(): number
  /** Whether the next request would get a connection that is open. */
  hasFree(): boolean
  /** Opens a connection for the next request; `settled` follows, whether that succeeds or not. */
  connect(settled: () => void): void
  /**
   * Closes idle connections now, and the others after their response. Requests are still sent, each on
   * a connection that is closed afterwards unless another request waits for it.
   */
  drain(): void
  /** Closes every connection. Requests in progress fail. */
  destroy(): void
}

/**
 * The most connections to open at a time. With a thousand at once, a server drops those beyond its
 * accept queue, and the system retries them only a second later; by then, open connections are free.
 */
const maxOpening = 64

/** Opens no connection before the first request. `address`: the one to use if the name has several. */
export function createPool(
  origin: string,
  address: string | undefined,
  settings: PoolSettings,
): Pool {
  return new ConnectionPool(new URL(origin), address, settings)
}

/** The methods of `Pool` are bound: a target passes them on without the pool. */
class ConnectionPool implements Pool {
  readonly #host: string
  readonly #maxConnections: number
  readonly #connector: Connector
  readonly #onConnect: OnConnect | undefined
  readonly #ticks: PoolTicks
  readonly #idle: IdleConnections
  readonly #all = new Set<Connection>()
  #waiting: PlainCall[] = []
  #opening = 0
  /** Connections that are being opened for one request each. */
  #openingFresh = 0
  #clock: NodeJS.Timeout | undefined
  #destroyed = false
  #draining = false

  constructor(origin: URL, address: string | undefined, settings: PoolSettings) {
    this.#ticks = new PoolTicks(settings)
    this.#host = origin.host
    this.#maxConnections = settings.connections
    this.#onConnect = settings.onConnect
    this.#connector = createConnector(origin, address, settings.tls, settings)
    this.#idle = createIdleConnections(this.#ticks.tickMs, settings.idleTimeoutMs)
  }

  readonly send = (request: WireRequest, handler: ResponseHandler, fresh = false): Call => {
    const head = requestHead(request, this.#host)
    const call: PlainCall = {
      request,
      head: head ?? '',
      handler,
      fresh: fresh || request.upgrade !== undefined,
      timeouts: this.#ticks.timeouts(request.timeouts),
      connection: undefined,
      ended: false,
    }
    if (this.#destroyed || head === undefined) {
      queueMicrotask(() => fail(call, this.#destroyed ? poolDestroyed() : unsendable()))
      return call
    }
    const connection = this.#waiting.length > 0 || call.fresh ? undefined : this.#idle.take()
    if (connection !== undefined) connection.start(call)
    else {
      this.#waiting.push(call)
      this.#pump()
    }
    return call
  }

  readonly abort = (call: Call): void => {
    if (call.ended) return
    call.ended = true
    if (call.connection !== undefined) call.connection.abandon()
    else this.#waiting = this.#waiting.filter((other) => other !== call)
  }

  readonly resume = (call: Call): void => call.connection?.resume()

  readonly size = (): number => this.#all.size

  readonly hasFree = (): boolean => this.#waiting.length === 0 && this.#idle.size() > 0

  readonly connect = (settled: () => void): void => {
    if (this.#destroyed || this.#all.size >= this.#maxConnections) settled()
    else this.#open(undefined, settled)
  }

  readonly drain = (): void => {
    this.#draining = true
    while (this.#dropIdle());
  }

  readonly destroy = (): void => {
    this.#destroyed = true
    clearInterval(this.#clock)
    for (const call of this.#waiting.splice(0)) fail(call, poolDestroyed())
    for (const connection of this.#all) connection.destroy()
  }

  #tick(): void {
    this.#idle.tick()
    for (const connection of this.#all) connection.tick()
    if (this.#all.size > 0) return
    clearInterval(this.#clock)
    this.#clock = undefined
  }

  /** Opens a connection, for this request if one is given, else for the first that waits. */
  #open(first?: PlainCall, onSettled?: () => void): void {
    this.#clock ??= setInterval(() => this.#tick(), this.#ticks.tickMs).unref()
    const isFresh = first !== undefined
    const forUpgrade = first?.request.upgrade !== undefined
    // Cleared when it starts: a persistent connection must not keep it in memory.
    let call = first
    if (isFresh) this.#openingFresh++
    else this.#opening++
    let isOpening = true
    let isHopeless = false
    const settled = (error?: Error) => {
      if (!isOpening) return
      isOpening = false
      if (isFresh) this.#openingFresh--
      else this.#opening--
      // An attempt that was given up on this side says nothing about the server.
      if (!this.#destroyed && call?.ended !== true) isHopeless = this.#onConnect?.(error) === false
      onSettled?.()
    }
    const connection = new Connection({
      connector: this.#connector,
      timeouts: this.#ticks.timeouts(),
      forUpgrade,
      onFree: (free) => {
        settled()
        const own = call
        call = undefined
        if (own !== undefined && !own.ended) free.start(own)
        // After a refused upgrade, further bytes may not belong to another response.
        else if (forUpgrade) free.destroy()
        else if (this.#draining && this.#waiting.length === 0) free.destroy()
        else this.#idle.keep(free)
        if (this.#waiting.length > 0) this.#pump()
      },
      onGone: (gone, neverConnected) => {
        settled(neverConnected)
        this.#all.delete(gone)
        this.#idle.gone(gone)
        if (neverConnected !== undefined) this.#connectFailed(neverConnected, call, isHopeless)
        this.#pump()
      },
    })
    if (call !== undefined) call.connection = connection
    this.#all.add(connection)
  }

  /** Fails the request that the connection was for, if there is one, or all that wait in vain. */
  #connectFailed(error: Error, fresh: PlainCall | undefined, isHopeless: boolean): void {
    if (fresh !== undefined) fail(fresh, error)
    // No connection of the pool can become free for these calls.
    if (isHopeless && this.#all.size === this.#opening + this.#openingFresh) {
      for (const call of this.#waiting.splice(0)) fail(call, error)
      return
    }
    // Otherwise, every waiting request has another connection on the way.
    if (fresh === undefined && this.#opening < this.#waiting.filter(mayShare).length) {
      const [first] = this.#waiting.splice(this.#waiting.findIndex(mayShare), 1)
      if (first !== undefined) fail(first, error)
    }
  }

  /** Starts waiting requests on idle connections, and opens the connections that are missing. */
  #pump(): void {
    while (this.#waiting.length > 0 && !this.#destroyed) {
      const first = this.#waiting[0] as PlainCall
      if (mayShare(first)) {
        const connection = this.#idle.take()
        if (connection === undefined) break
        this.#waiting.shift()
        connection.start(first)
      } else {
        if (this.#opening + this.#openingFresh >= maxOpening) return
        if (this.#all.size >= this.#maxConnections && !this.#dropIdle()) return
        this.#waiting.shift()
        this.#open(first)
      }
    }
    while (!this.#destroyed && this.#mayOpenShared()) this.#open()
  }

  #mayOpenShared(): boolean {
    if (this.#all.size >= this.#maxConnections) return false
    if (this.#opening + this.#openingFresh >= maxOpening) return false
    // The first comparison is cheap and usually decides.
    if (this.#opening >= this.#waiting.length) return false
    return this.#opening < this.#waiting.filter(mayShare).length
  }

  #dropIdle(): boolean {
    const connection = this.#idle.take()
    if (connection === undefined) return false
    this.#all.delete(connection)
    connection.destroy()
    return true
  }
}

function fail(call: PlainCall, error: Error): void {
  if (call.ended) return
  call.ended = true
  call.connection = undefined
  call.handler.failed(error)
}

function mayShare({ fresh }: PlainCall): boolean {
  return !fresh
}

export function unsendable(): WireError {
  return new WireError('unsendable', 'request cannot be sent unambiguously', unsent)
}

export function poolDestroyed(): WireError {
  return new WireError('destroyed', 'target removed', unsent)
}
