import { once } from 'node:events'
import { Server as TlsServer } from 'node:https'
import { type AddressInfo, createServer, Server as NetServer, type Socket } from 'node:net'
import { platform } from 'node:os'
import type { ClientConnections } from '../connections/client-connections.ts'
import { type Address, listen, listenOn } from './listen.ts'
import type { PublicListener } from './public-listener.ts'

/**
 * Node takes one connection from a listening socket in each turn of its loop (libuv/libuv#3696).
 * With a thousand busy connections a turn takes 20 ms, so the last of a thousand more would wait for
 * 20 seconds. Each of these sockets gives one a turn.
 */
const mostDoors = 16
/** A greeting of TLS costs many times what a request does: those who are in would feel it. */
const mostTlsDoors = 4

/**
 * How many clients may wait at each of these sockets. All that wait are looked at within about two
 * seconds, even if they have left (100 µs each, more with TLS). A longer queue would make a good
 * client wait longer than a dropped packet does, which its system repeats after a second.
 */
const mostUntaken = 1024
const mostUntakenTls = 256

export interface Doors {
  /** Listens and returns the port that was bound. A port in use is said in one line. */
  open(address: Address): Promise<number>
  /** Takes no connection any more. Resolves when all that were taken are closed. */
  close(): Promise<void>
}

/**
 * The ways into a server, each of which brings a connection to it that is admitted. A `single` one
 * is for a server that shares its port with other processes.
 */
export function createDoors(
  server: PublicListener,
  { admit, acceptFailed }: Pick<ClientConnections, 'admit' | 'acceptFailed'>,
  { single = false }: { readonly single?: boolean } = {},
): Doors {
  const others = single || platform() !== 'linux' ? [] : createOthers(server)
  const doors: readonly NetServer[] = [server, ...others]

  for (const door of others) {
    door.on('connection', (socket: Socket) => void server.emit('connection', socket))
  }
  for (const door of doors) {
    // Without a listener, a connection that the system could not hand over would end the process.
    door.on('error', ({ syscall }: NodeJS.ErrnoException) => {
      if (syscall === 'accept') acceptFailed()
    })
  }

  /** Puts the check before all that listens for connections. */
  function guard(): void {
    const listeners = server.listeners('connection')
    server.removeAllListeners('connection')
    server.on('connection', (socket: Socket) => {
      if (!admit(socket)) return
      for (const listener of listeners) listener.call(server, socket)
    })
  }

  const ends: Promise<unknown>[] = []
  function shut(door: NetServer): void {
    if (!door.listening) return
    ends.push(once(door, 'close'))
    // Not the close of HTTP servers, which begins with closing what is idle.
    NetServer.prototype.close.call(door)
  }

  return {
    async open({ host, port }) {
      guard()
      if (others.length === 0) return listen(server, { host, port })
      // Two gateways that share a port would do so in silence: the first look is at whether it is free.
      const free = port === 0 ? host : await freeAddress({ host, port })
      try {
        const backlog = server instanceof TlsServer ? mostUntakenTls : mostUntaken
        const bound = await listenOn(server, { host: free, port, reusePort: true, backlog })
        // A name may have several addresses; all are to listen on the same one.
        const { address } = server.address() as AddressInfo
        const same = { host: address, port: bound, reusePort: true, backlog }
        await allOf(others.map((door) => listenOn(door, same)))
        return bound
      } catch {
        // A system that cannot. One way in is enough to serve.
        for (const door of doors) shut(door)
        return listen(server, { host, port })
      }
    },
    async close() {
      for (const door of doors) shut(door)
      await Promise.all(ends)
    },
  }
}

function createOthers(server: PublicListener): readonly NetServer[] {
  const { allowHalfOpen } = server as { allowHalfOpen?: boolean }
  const options = { allowHalfOpen: allowHalfOpen ?? false, noDelay: true }
  const count = server instanceof TlsServer ? mostTlsDoors : mostDoors
  return Array.from({ length: count - 1 }, () => createServer(options))
}

/** Rejects when one of them did, and when none of them is under way any more. */
async function allOf(promises: readonly Promise<unknown>[]): Promise<void> {
  await Promise.allSettled(promises)
  await Promise.all(promises)
}

/** Which one the host is, when nobody has the port there. Throws a Fault otherwise. */
async function freeAddress(wanted: Address): Promise<string> {
  const server = createServer()
  await listen(server, wanted)
  const { address } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return address
}
