import { once } from 'node:events'
import { Server as TlsServer } from 'node:https'
import { type AddressInfo, createServer, Server as NetServer, type Socket } from 'node:net'
import { platform } from 'node:os'
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

export interface Doors {
  /** Listens and returns the port that was bound. A port in use is said in one line. */
  open(address: Address): Promise<number>
  /** Takes no connection any more. Resolves when all that were taken are closed. */
  close(): Promise<void>
}

/**
 * The ways into a server: it takes `most` connections at a time, through all of them together. A
 * `single` one is for a server that shares its port with other processes.
 */
export function createDoors(
  server: PublicListener,
  most: number,
  { single = false }: { readonly single?: boolean } = {},
): Doors {
  const others = single || platform() !== 'linux' ? [] : createOthers(server)
  const doors: readonly NetServer[] = [server, ...others]
  const taken = new Map(doors.map((door) => [door, 0]))
  /** What came in by another than the server's own. */
  const passedOn = new WeakSet<Socket>()

  /** As many as all together have left, each may take. */
  function share(): void {
    let left = most
    for (const count of taken.values()) left -= count
    for (const [door, count] of taken) door.maxConnections = count + left
  }
  function count(door: NetServer, change: 1 | -1): void {
    taken.set(door, (taken.get(door) ?? 0) + change)
    share()
  }
  function watch(door: NetServer): void {
    // Else a worker that has its share would hand one on, from one full worker to the next.
    Object.assign(door, { dropMaxConnection: true })
    door.prependListener('connection', (socket: Socket) => {
      if (door === server && passedOn.has(socket)) return
      count(door, 1)
      socket.once('close', () => count(door, -1))
    })
  }
  for (const door of others) {
    door.on('connection', (socket: Socket) => {
      passedOn.add(socket)
      server.emit('connection', socket)
    })
  }
  for (const door of doors) watch(door)
  share()

  const ends: Promise<unknown>[] = []
  function shut(door: NetServer): void {
    if (!door.listening) return
    ends.push(once(door, 'close'))
    // Not the close of HTTP servers, which begins with closing what is idle.
    NetServer.prototype.close.call(door)
  }

  return {
    async open({ host, port }) {
      if (others.length === 0) return listen(server, { host, port })
      // Two gateways that share a port would do so in silence: the first look is at whether it is free.
      const free = port === 0 ? host : await freeAddress({ host, port })
      try {
        const bound = await listenOn(server, { host: free, port, reusePort: true })
        // A name may have several addresses; all are to listen on the same one.
        const { address } = server.address() as AddressInfo
        const same = { host: address, port: bound, reusePort: true }
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
