import type { Duplex } from 'node:stream'
import { fieldStart, isFieldValue } from './header-fields.ts'
import type { ResponseHead } from './response-head.ts'

/** A request as it goes out. The method must be a token. */
export interface WireRequest {
  readonly method: string
  readonly path: string
  /** The Host header; without it the one of the target. */
  readonly host: string | undefined
  /** Name, value, name, value … with Content-Length, and without what frames or routes besides it. */
  readonly headers: readonly string[]
  readonly upload: Upload | undefined
  /** The protocol to go on in. */
  readonly upgrade: string | undefined
  /** Whether this is the last request on its connection, which the server learns from the head. */
  readonly closes?: boolean
}

/** A body that comes from somewhere else while it is sent. */
export interface Upload {
  /** What Content-Length says; without it, the body goes out in chunks. */
  readonly length: number | undefined
  /** Begins to hand it over. Called once at most. */
  start(sink: UploadSink): void
  /** The sink has room again. */
  resume(): void
  /** Nobody wants the rest. May come at any time, and more than once. */
  stop(): void
}

/** Where the body goes. */
export interface UploadSink {
  /** Gives `false` when there is no room for more until `resume`. */
  data(chunk: Buffer): boolean
  end(): void
  /** It will never be complete. */
  fail(error: Error): void
}

/**
 * What is told about a request that was sent, in this order: `sent`, then `complete`, or `head`, `data`
 * and `end`, or `upgraded`; `failed` ends it at any point. What is thrown while an answer is told
 * fails the request.
 */
export interface ResponseHandler {
  /** It has a connection. */
  sent(): void
  /** All of a short answer, its bytes as Latin-1. */
  complete(head: ResponseHead, body: string): void
  head(head: ResponseHead): void
  /**
   * Gives `false` to be left alone until `resume`. The chunk is the handler's to keep, unless it
   * says with `release` that nobody will read it again: its memory is another answer's then.
   */
  data(chunk: Buffer, release: () => void): boolean
  end(trailers: readonly string[]): void
  upgraded(head: ResponseHead, socket: Duplex): void
  failed(error: Error): void
}

/** Methods whose requests have a body as a rule: without one, that is said. */
const usuallyWithBody = new Set(['POST', 'PUT', 'PATCH'])

/** A space would end the path, and what follows it would be read as the version. */
const unfitForPath = /[^\x21-\x7e\x80-\xff]/

/**
 * The bytes of a request before its body, as Latin-1. Gives `undefined` for what a server would read
 * as something else than this one request: whoever writes a value need not be careful for that.
 */
export function requestHead(request: WireRequest, ownHost: string): string | undefined {
  const { method, path, host = ownHost, headers, upload, upgrade, closes } = request
  if (unfitForPath.test(path) || unfitForPath.test(host)) return undefined
  let head = `${method} ${path} HTTP/1.1\r\nHost: ${host}`
  if (upgrade !== undefined) head += `\r\nConnection: Upgrade\r\nUpgrade: ${upgrade}`
  else head += closes === true ? '\r\nConnection: close' : '\r\nConnection: keep-alive'
  for (let at = 0; at < headers.length; at += 2) {
    const start = fieldStart(headers[at] as string)
    const value = headers[at + 1] as string
    if (start === undefined || !isFieldValue(value)) return undefined
    head = head + start + value
  }
  if (upload === undefined) {
    if (usuallyWithBody.has(method) && !saysLength(headers)) head += '\r\nContent-Length: 0'
  } else if (upload.length === undefined) head += '\r\nTransfer-Encoding: chunked'
  return `${head}\r\n\r\n`
}

function saysLength(headers: readonly string[]): boolean {
  for (let at = 0; at < headers.length; at += 2) {
    if ((headers[at] as string).toLowerCase() === 'content-length') return true
  }
  return false
}
