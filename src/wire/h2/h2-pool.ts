import { type Connector, createConnector } from '../connect.ts'
import type { Call } from '../connection.ts'
import { type OnConnect, type Pool, type PoolSettings, poolDestroyed, unsendable } from '../pool.ts'
import type { ResponseHandler, WireRequest } from '../request-head.ts'
import { PoolTicks } from '../timeout-ticks.ts'
import { unsent, WireError } from '../wire-error.ts'
import { type ConnectionTicks, H2Connection } from './h2-connection.ts'
import { requestFields } from './request-fields.ts'
import { StreamCall } from './stream-call.ts'

interface H2PoolOptions {
  /** Takes the waiting requests of a server that has chosen HTTP/1.1. Unset: they fail. */
  readonly onHttp1?: ((waiting: readonly StreamCall[]) => void) | undefined
}

/** The most connections to open at a time, as in HTTP/1.1. */
const maxOpening = 64

const defaults = {
  streams: 100,
  pingMs: 300_000,
  earlyPingMs: 5000,
  pingTimeoutMs: 10_000,
  maxAgeMs: 0,
}
/** A server announces the close of an idle connection with GOAWAY, so no request is lost to it. */
const defaultIdleMs = 60_000

/**
 * HTTP/2 connections to one origin. At most `connections` requests are in progress. A connection is
 * filled with as many as it may have before another one is opened.
 */
export class H2Pool implements Pool {
  readonly #origin: { readonly scheme: string; readonly host: string }
  readonly #connector: Connector
  readonly #options: H2PoolOptions
  readonly #onConnect: OnConnect | undefined
  readonly #maxRequests: number
  readonly #maxStreams: number
  readonly #ticks: PoolTicks
  readonly #limits: ConnectionTicks
  /** With the number of each, in the order in which they were opened. */
  readonly #all = new Map<H2Connection, number>()
  #waiting: StreamCall[] = []
  #inProgress = 0
  #opening = 0
  #opened = 0
  /** Connections from this number on were opened after the last one broke. */
  #freshFrom = 0
  /** How many requests one connection takes, as far as the server has said so. */
  #streams: number
  #clock: NodeJS.Timeout | undefined
  #destroyed = false
  #draining = false

  constructor(
    origin: URL,
    address: string | undefined,
    settings: PoolSettings,
    options: H2PoolOptions = {},
  ) {
    const http2 = { ...defaults, ...settings.http2 }
    const alpn = options.onHttp1 === undefined ? ['h2'] : ['h2', 'http/1.1']
    this.#origin = { scheme: origin.protocol.slice(0, -1), host: origin.host }
    this.#connector = createConnector(origin, address, settings.tls, {
      onLookup: settings.onLookup,
      alpn,
    })
    this.#options = options
    this.#onConnect = settings.onConnect
    this.#maxRequests = settings.connections
    this.#maxStreams = http2.streams
    this.#streams = http2.streams
    const ticks = new PoolTicks(settings)
    const orNever = (ms: number) => (ms === 0 ? Number.POSITIVE_INFINITY : ticks.of(ms))
    this.#ticks = ticks
    this.#limits = {
      connect: ticks.timeouts().connect,
      idle: ticks.of(settings.idleTimeoutMs ?? defaultIdleMs),
      ping: orNever(http2.pingMs),
      earlyPing: orNever(Math.min(http2.pingMs, http2.earlyPingMs ?? defaults.earlyPingMs)),
      pingTimeout: ticks.of(http2.pingTimeoutMs ?? defaults.pingTimeoutMs),
      age: orNever(http2.maxAgeMs),
    }
  }

  readonly send = (request: WireRequest, handler: ResponseHandler, fresh = false): StreamCall => {
    const fields = requestFields(request, this.#origin)
    const timeouts = this.#ticks.timeouts(request.timeouts)
    const call = new StreamCall(request, fields ?? [], { handler, fresh, timeouts })
    if (this.#destroyed) queueMicrotask(() => call.failUnsent(poolDestroyed()))
    else if (request.upgrade !== undefined) queueMicrotask(() => call.failUnsent(noUpgrades()))
    else if (fields === undefined) queueMicrotask(() => call.failUnsent(unsendable()))
    else {
      this.#waiting.push(call)
      this.#pump()
    }
    return call
  }

  readonly abort = (call: Call): void => {
    if (call.ended) return
    if (call.connection !== undefined) call.connection.abandon()
    else {
      call.ended = true
      this.#waiting = this.#waiting.filter((other) => other !== call)
    }
  }

  readonly resume = (call: Call): void => call.connection?.resume()

  readonly size = (): number => this.#all.size

  readonly hasFree = (): boolean =>
    this.#inProgress < this.#maxRequests && this.#find(false) !== undefined

  readonly connect = (settled: () => void): void => {
    if (this.#destroyed || this.#all.size >= this.#maxRequests) settled()
    else this.#open(settled)
  }

  readonly drain = (): void => {
    this.#draining = true
    for (const connection of this.#all.keys()) this.#closeIfDone(connection)
  }

  readonly destroy = (): void => {
    this.#destroyed = true
    clearInterval(this.#clock)
    for (const call of this.#waiting.splice(0)) call.failUnsent(poolDestroyed())
    for (const connection of this.#all.keys()) connection.destroy()
  }

  #tick(): void {
    for (const connection of this.#all.keys()) connection.tick()
    if (this.#all.size > 0) return
    clearInterval(this.#clock)
    this.#clock = undefined
  }

  #open(onSettled?: () => void): void {
    this.#clock ??= setInterval(() => this.#tick(), this.#ticks.tickMs).unref()
    this.#opening++
    let isOpening = true
    const settled = (error?: Error) => {
      if (!isOpening) return
      isOpening = false
      this.#opening--
      // A pool that closes its connections itself learns nothing about the server.
      if (!this.#destroyed && !this.#draining) this.#onConnect?.(error)
      onSettled?.()
    }
    const { onHttp1 } = this.#options
    const connection = new H2Connection({
      connector: this.#connector,
      ticks: this.#limits,
      maxStreams: this.#maxStreams,
      onReady: (ready) => {
        settled()
        this.#streams = Math.max(1, ready.limit())
        this.#pump()
        this.#closeIfDone(ready)
      },
      onRoom: (free) => {
        this.#pump()
        this.#closeIfDone(free)
      },
      onEnded: () => {
        this.#inProgress--
      },
      ...(onHttp1 !== undefined && {
        onOtherProtocol: () => {
          settled()
          onHttp1(this.#waiting.splice(0))
        },
      }),
      onBroken: () => {
        this.#freshFrom = this.#opened
      },
      onGone: (gone, neverReady) => {
        const wasOpening = isOpening
        settled(neverReady)
        this.#all.delete(gone)
        if (wasOpening && neverReady !== undefined) this.#connectFailed(neverReady)
        this.#pump()
      },
    })
    this.#all.set(connection, this.#opened++)
  }

  /** Fails the requests that the connection was for; the others have one on the way. */
  #connectFailed(error: Error): void {
    const left = this.#waiting.length - this.#opening * this.#streams
    for (const call of this.#waiting.splice(0, Math.min(left, this.#streams))) {
      call.failUnsent(error)
    }
  }

  /** Starts waiting requests, and opens the connections that are missing. */
  #pump(): void {
    let at = 0
    while (at < this.#waiting.length && this.#inProgress < this.#maxRequests) {
      const call = this.#waiting[at] as StreamCall
      const connection = this.#find(call.fresh)
      if (connection === undefined) {
        if (!call.fresh) break
        at++
        continue
      }
      this.#waiting.splice(at, 1)
      this.#inProgress++
      connection.start(call)
    }
    while (this.#mayOpen()) this.#open()
  }

  #find(fresh: boolean): H2Connection | undefined {
    for (const [connection, number] of this.#all) {
      if ((!fresh || number >= this.#freshFrom) && connection.room() > 0) return connection
    }
    return undefined
  }

  #mayOpen(): boolean {
    if (this.#destroyed || this.#opening >= maxOpening) return false
    if (this.#all.size >= this.#maxRequests) return false
    const wanting = Math.min(this.#waiting.length, this.#maxRequests - this.#inProgress)
    return this.#opening * this.#streams < wanting
  }

  #closeIfDone(connection: H2Connection): void {
    if (this.#draining && this.#waiting.length === 0 && connection.isIdle()) connection.shutDown()
  }
}

function noUpgrades(): WireError {
  const message = 'an upgrade such as WebSocket needs HTTP/1.1: use protocol "http1" or "auto"'
  return new WireError('unsendable', message, unsent)
}
