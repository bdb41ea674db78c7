import type { Duplex } from 'node:stream'
import { fieldStart, isFieldValue } from './header-fields.ts'
import type { ResponseHead } from './response-head.ts'

/** A request to a server. The method must be a token (RFC 9110 9.1). */
export interface WireRequest {
  readonly method: string
  readonly path: string
  /** The Host header. Unset: that of the target. */
  readonly host: string | undefined
  /** Name, value, name, value … Content-Length is the only header for framing or routing here. */
  readonly headers: readonly string[]
  readonly upload: Upload | undefined
  /** The protocol to switch to. */
  readonly upgrade: string | undefined
  /** Whether the request has `Connection: close`. */
  readonly closes?: boolean
  /** Replace those of the pool. */
  readonly timeouts?: RequestTimeouts | undefined
}

export interface RequestTimeouts {
  /** From the end of the request to the end of the head of its response. */
  readonly headersMs?: number
  /** The longest pause within the response. */
  readonly bodyMs?: number
}

/** A body that is still arriving while it is sent. */
export interface Upload {
  /** The Content-Length. Unset: the body is sent in chunks. */
  readonly length: number | undefined
  /** Begins to write to the sink. Called once, and once more after `rewind`. */
  start(sink: UploadSink): void
  /**
   * The server has not processed any of what was written, `chunks`: the next `start` begins with them
   * again. Unset: a request that was begun cannot be sent again.
   */
  rewind?(chunks: readonly Buffer[]): void
  /** The sink accepts data again. */
  resume(): void
  /** The rest is not needed. May be called at any time, and more than once. */
  stop(): void
}

/** Where the body goes. */
export interface UploadSink {
  /** Returns `false` to stop the data until `resume`. */
  data(chunk: Buffer): boolean
  end(): void
  /** It will never be complete. */
  fail(error: Error): void
}

/**
 * The events of a request, in this order: `sent`, then `complete`, or `head`, `data` and `end`, or
 * `upgraded`. `failed` can come at any point and is the last. An exception in a handler fails the
 * request.
 */
export interface ResponseHandler {
  /** The request has a connection. */
  sent(): void
  /** A complete short response, its body as Latin-1. */
  complete(head: ResponseHead, body: string): void
  head(head: ResponseHead): void
  /**
   * Returns `false` to pause the response until `resume`. The handler owns the chunk until it calls
   * `release`; then another response reuses its memory.
   */
  data(chunk: Buffer, release: () => void): boolean
  end(trailers: readonly string[]): void
  upgraded(head: ResponseHead, socket: Duplex): void
  failed(error: Error): void
}

/** RFC 9110 8.6: without a body, these should have `Content-Length: 0`. */
const usuallyWithBody = new Set(['POST', 'PUT', 'PATCH'])

/** A space would end the path, and the rest would be read as the version. */
export const unfitForPath = /[^\x21-\x7e\x80-\xff]/

/**
 * The bytes of a request before its body, as Latin-1. Returns `undefined` if a server could read them
 * as anything but this one request, so callers need not check their values.
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
