import type { Socket } from 'node:net'

/**
 * The answer to a request, as far as we write one: what Node's `ServerResponse` and our own have in
 * common. `close` is told when all of it has been sent or the client has left; where that is so
 * already when `end` returns (`closed`), nobody is told.
 */
export interface Reply {
  statusCode: number
  /** Whether another request may follow on the connection. To be changed before the head is written. */
  shouldKeepAlive: boolean
  readonly headersSent: boolean
  readonly closed: boolean
  readonly destroyed: boolean
  /** The bytes that wait for the client to read. */
  readonly writableLength: number
  readonly socket: Socket | null
  readonly req: { readonly httpVersionMinor: number }

  setHeader(name: string, value: string): unknown
  removeHeader(name: string): void
  /** Throws for what would not be one header. */
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
