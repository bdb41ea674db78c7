import type { Duplex } from 'node:stream'
import { onTestFinished } from 'vitest'
import { type Call, createPool, type Pool, type PoolSettings } from '../../src/wire/pool.ts'
import type { ResponseHandler, WireRequest } from '../../src/wire/request-head.ts'
import type { ResponseHead } from '../../src/wire/response-head.ts'
import type { WireError } from '../../src/wire/wire-error.ts'

/** A request, and what its handler has been told so far. */
export interface RecordedCall {
  readonly call: Call
  /** The names of what was told, each `data` once for any number in a row. */
  readonly events: string[]
  head(): ResponseHead | undefined
  body(): string
  trailers(): readonly string[]
  socket(): Duplex | undefined
  error(): WireError | undefined
  /** Resolves when it is over in whatever way. */
  readonly over: Promise<RecordedCall>
}

/** Closed with its test. */
export function startPool(
  origin: string,
  settings: Partial<PoolSettings> = {},
  address?: string,
): Pool {
  const pool = createPool(origin, address, {
    connections: 1,
    connectTimeoutMs: 30_000,
    headersTimeoutMs: 30_000,
    bodyTimeoutMs: 30_000,
    ...settings,
  })
  onTestFinished(pool.destroy)
  return pool
}

export const plainGet: WireRequest = {
  method: 'GET',
  path: '/',
  host: undefined,
  headers: [],
  upload: undefined,
  upgrade: undefined,
}

/** Sends a GET, or what differs from it; `also` does what a handler may do besides listening. */
export function send(
  pool: Pool,
  request: Partial<WireRequest> = {},
  also: Partial<ResponseHandler> = {},
  fresh = false,
): RecordedCall {
  const { promise, resolve } = Promise.withResolvers<RecordedCall>()
  const events: string[] = []
  const chunks: Buffer[] = []
  let head: ResponseHead | undefined
  let trailers: readonly string[] = []
  let socket: Duplex | undefined
  let error: WireError | undefined
  const tell = (name: string) => {
    if (name !== 'data' || events.at(-1) !== 'data') events.push(name)
  }

  const handler: ResponseHandler = {
    sent() {
      tell('sent')
      also.sent?.()
    },
    complete(given, body) {
      tell('complete')
      head = given
      chunks.push(Buffer.from(body, 'latin1'))
      resolve(recorded)
      also.complete?.(given, body)
    },
    head(given) {
      tell('head')
      head = given
      also.head?.(given)
    },
    data(chunk, release) {
      tell('data')
      chunks.push(chunk)
      return also.data?.(chunk, release) ?? true
    },
    end(given) {
      tell('end')
      trailers = given
      resolve(recorded)
      also.end?.(given)
    },
    upgraded(given, stream) {
      tell('upgraded')
      head = given
      socket = stream
      resolve(recorded)
      also.upgraded?.(given, stream)
    },
    failed(reason) {
      tell('failed')
      error = reason as WireError
      resolve(recorded)
      also.failed?.(reason)
    },
  }
  const recorded: RecordedCall = {
    get call() {
      return call
    },
    events,
    head: () => head,
    body: () => Buffer.concat(chunks).toString('latin1'),
    trailers: () => trailers,
    socket: () => socket,
    error: () => error,
    over: promise,
  }
  const call = pool.send({ ...plainGet, ...request }, handler, fresh)
  return recorded
}
