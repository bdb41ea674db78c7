import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, type TlsOptions } from 'node:tls'
import { onTestFinished } from 'vitest'

/** A server of which every connection does what the test says. */
export interface WireServer {
  readonly port: number
  readonly origin: string
  readonly server: Server
  /** Every connection that ever came, in order. */
  readonly sockets: readonly Socket[]
  /** What came on a connection, as Latin-1. */
  received(connection: number): string
  /** Connections that are open now. */
  open(): number
  close(): Promise<void>
}

export interface Served {
  readonly socket: Socket
  /** The head of the request, without the empty line. */
  readonly head: string
  /** How many requests came before it, on any connection. */
  readonly turn: number
  /** Leaves the connection to the test, paused, and gives what came behind the head. */
  takeOver(): string
}

/** Calls `answer` for the head of each request; bodies are left to whoever reads `received`. */
export async function startWireServer(
  answer: (served: Served) => unknown,
  tls?: TlsOptions,
  host = '127.0.0.1',
  atPort = 0,
): Promise<WireServer> {
  const sockets: Socket[] = []
  const texts: string[] = []
  let turn = 0

  const server = tls === undefined ? createServer(take) : createTlsServer(tls, take)
  function take(socket: Socket): void {
    const connection = sockets.push(socket) - 1
    let seen = 0
    texts.push('')
    socket.on('error', () => {})
    const takeOver = () => {
      socket.off('data', read).pause()
      return (texts[connection] ?? '').slice(seen)
    }
    socket.on('data', read)
    function read(chunk: Buffer): void {
      texts[connection] += chunk.toString('latin1')
      for (;;) {
        const text = texts[connection] ?? ''
        const head = /([A-Z]+ \S+ HTTP\/1\.1\r\n(?:[^\r\n]+\r\n)*)\r\n/g
        head.lastIndex = seen
        const found = head.exec(text)
        if (found === null) return
        seen = head.lastIndex
        answer({ socket, head: (found[1] ?? '').trimEnd(), turn: turn++, takeOver })
      }
    }
  }
  server.listen(atPort, host)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const close = async () => {
    if (!server.listening) return
    server.close()
    for (const socket of sockets) socket.destroy()
    await once(server, 'close')
  }
  onTestFinished(close)

  return {
    port,
    server,
    origin: `${tls === undefined ? 'http' : 'https'}://${tls === undefined ? host : 'localhost'}:${port}`,
    sockets,
    received: (connection) => texts[connection] ?? '',
    open: () => sockets.filter((socket) => !socket.destroyed).length,
    close,
  }
}
