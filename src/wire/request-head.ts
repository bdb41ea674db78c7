import type { Duplex } from 'node:stream'
import type { AnswerHead } from './answer-head.ts'

/** A request as it goes out. Method, path and header values must be free of CR, LF and NUL. */
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
}

/** A body that comes from somewhere else while it is sent. */
export interface Upload {
  /** Whether its length is unknown, so that it goes out in chunks. */
  readonly chunked: boolean
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
  /** It will never be whole. */
  fail(error: Error): void
}

/**
 * What is told about a request that was sent, in this order: `sent`, then `whole`, or `head`, `data`
 * and `end`, or `upgraded`; `failed` ends it at any point. What a handler throws fails the request.
 */
export interface AnswerHandler {
  /** It has a connection. */
  sent(): void
  /** All of a short answer, its bytes as Latin-1. */
  whole(head: AnswerHead, body: string): void
  head(head: AnswerHead): void
  /** Gives `false` to be left alone until `resume`. */
  data(chunk: Buffer): boolean
  end(trailers: readonly string[]): void
  upgraded(head: AnswerHead, socket: Duplex): void
  failed(error: Error): void
}

/** Methods whose requests have a body as a rule: without one, that is said. */
const usuallyWithBody = new Set(['POST', 'PUT', 'PATCH'])

/** The bytes of a request before its body, as Latin-1. */
export function requestHead(request: WireRequest, ownHost: string): string {
  const { method, path, host, headers, upload, upgrade } = request
  let head = `${method} ${path} HTTP/1.1\r\nHost: ${host ?? ownHost}\r\n`
  head +=
    upgrade === undefined
      ? 'Connection: keep-alive\r\n'
      : `Connection: Upgrade\r\nUpgrade: ${upgrade}\r\n`
  for (let at = 0; at < headers.length; at += 2) head += `${headers[at]}: ${headers[at + 1]}\r\n`
  if (upload?.chunked) head += 'Transfer-Encoding: chunked\r\n'
  else if (upload === undefined && usuallyWithBody.has(method) && !saysLength(headers)) {
    head += 'Content-Length: 0\r\n'
  }
  return `${head}\r\n`
}

function saysLength(headers: readonly string[]): boolean {
  for (let at = 0; at < headers.length; at += 2) {
    if ((headers[at] as string).toLowerCase() === 'content-length') return true
  }
  return false
}
