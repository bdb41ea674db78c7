import { IncomingMessage, type Server } from 'node:http'
import { Server as TlsServer } from 'node:https'
import type { Socket } from 'node:net'
import { ArrivalRate } from './arrival-rate.ts'
import type { ClientConnections } from './client-connections.ts'
import type { ClientFaults } from './client-faults.ts'
import type { Lingering } from './lingering.ts'
import { PacedParser } from './paced-parser.ts'

interface NodeConnectionParts {
  readonly clients: Pick<ClientConnections, 'of'>
  readonly faults: Pick<ClientFaults, 'closed' | 'requestRejected'>
  readonly lingering: Lingering
}

/** The connections that Node's parser reads. */
export type NodeConnections = ReturnType<typeof createNodeConnections>

/** The event that announces a connection on which HTTP begins. */
export function connectionEvent(server: Server | TlsServer): 'connection' | 'secureConnection' {
  return server instanceof TlsServer ? 'secureConnection' : 'connection'
}

/**
 * Puts a `PacedParser` between a server and Node's parser. Until `begin` or `readFrom` is called,
 * the server reads nothing. The limits and defenses here hold for every connection of Node's parser,
 * whether or not the plain request reader (decision 13) saw it first.
 */
export function createNodeConnections(
  server: Server | TlsServer,
  { clients, faults, lingering }: NodeConnectionParts,
) {
  const event = connectionEvent(server)
  const [listener, ...others] = server.listeners(event)
  if (listener === undefined || others.length > 0) {
    throw new Error(`expected one "${event}" listener on a new server`)
  }
  const parsers = new WeakMap<Socket, PacedParser>()
  const rate = new ArrivalRate()

  function create(socket: Socket, crowd: ArrivalRate | undefined): PacedParser {
    const parts = { client: clients.of(socket), faults, lingering, crowd }
    const parser = new PacedParser(socket, () => listener?.call(server, socket), parts)
    parsers.set(socket, parser)
    return parser
  }

  server.off(event, listener as never)
  for (const name of ['request', 'checkContinue', 'checkExpectation'] as const) {
    server.on(name, (request, reply) => {
      if (request instanceof IncomingMessage) parsers.get(request.socket)?.began(request, reply)
    })
  }
  // Node would close an idle connection at once; as in `checkTimeouts`, what has arrived is read first.
  server.on('timeout', (socket) => {
    const { bytesRead } = socket
    setImmediate(() => {
      if (socket.bytesRead === bytesRead) socket.destroy()
    })
  })
  const closeIdle = server.closeIdleConnections
  server.closeIdleConnections = () => {
    closeIdle.call(server)
    lingering.closeAll()
  }
  return {
    /** Node's parser reads this connection from its first byte. */
    begin(socket: Socket) {
      rate.arrived()
      create(socket, rate)
    },
    /** Node's parser reads this connection from now on, and these bytes first. */
    readFrom: (socket: Socket, bytes: Buffer) => create(socket, undefined).take(bytes),
    /** The connection changes protocol: returns the bytes behind the request that asked for it. */
    release(socket: Socket) {
      clients.of(socket).began()
      return parsers.get(socket)?.release() ?? Buffer.alloc(0)
    },
    /**
     * The connection cannot be parsed further: returns the request whose body is incomplete, if
     * any.
     */
    fail(socket: Socket) {
      const parser = parsers.get(socket)
      parser?.fail()
      return parser?.unfinished()
    },
  }
}
