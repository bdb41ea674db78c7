import type { Socket } from 'node:net'

/**
 * The response to a request: what Node's `ServerResponse`, our `PlainReply` and our
 * `StreamReply` have in common. `close`
 * is emitted when all of it has been sent or the client has disconnected, unless `closed` is already
 * true when `end` returns.
 */
export interface Reply {
  statusCode: number
  /** Whether another request may follow on the connection. Set it before `writeHead`. */
  shouldKeepAlive: boolean
  readonly headersSent: boolean
  readonly closed: boolean
  readonly destroyed: boolean
  /** The bytes that the client has not read yet. */
  readonly writableLength: number
  readonly socket: Socket | null
  readonly req: { readonly httpVersionMajor: number; readonly httpVersionMinor: number }

  setHeader(name: string, value: string): unknown
  removeHeader(name: string): void
  /** Throws for a name or value that is not a valid header. */
  writeHead(status: number, headers?: string[]): { end(): unknown }
  flushHeaders(): void
  write(chunk: Buffer, written: (error?: Error | null) => void): boolean
  addTrailers(trailers: readonly [string, string][]): void
  end(): unknown
  end(text: string, encoding: 'latin1' | 'utf8'): unknown
  writeContinue(): void
  detachSocket(socket: Socket): void
  destroy(): unknown

  on(event: 'close' | 'drain', listener: () => void): unknown
  once(event: 'close' | 'drain', listener: () => void): unknown
  off(event: 'close' | 'drain', listener: () => void): unknown
}
