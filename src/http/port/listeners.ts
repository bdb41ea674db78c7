import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { Server as TlsServer } from 'node:https'
import net, { type AddressInfo, createServer, Server as NetServer, type Socket } from 'node:net'
import { platform } from 'node:os'
import type { ClientConnections } from '../connections/client-connections.ts'
import { type Address, listen, listenOn } from './listen.ts'
import type { PublicListener } from './public-listener.ts'

/**
 * Node accepts one connection per listening socket and turn of its event loop (libuv/libuv#3696).
 * With a thousand busy connections a turn takes 20 ms, so the last of a thousand new ones would wait
 * for 20 seconds. Each of these sockets accepts one per turn.
 */
const listenerCount = 16
/** A TLS handshake costs many times what a request does: more would slow down the open connections. */
const tlsListenerCount = 4

/**
 * The accept queue of each of these sockets. A full one is worked off within about two seconds, even
 * if its clients have left (100 µs each, more with TLS). In a longer queue a good client would wait
 * longer than for a dropped packet, which its system sends again after a second.
 */
const backlogSize = 1024
const tlsBacklogSize = 256

export type Listeners = ReturnType<typeof createListeners>

/**
 * The listening sockets of a server: they pass it every connection that is admitted. `single` is for
 * a server that shares its port with other processes.
 */
export function createListeners(
  server: PublicListener,
  { admit, acceptFailed }: Pick<ClientConnections, 'admit' | 'acceptFailed'>,
  { single = false }: { readonly single?: boolean } = {},
) {
  const others = single || platform() !== 'linux' ? [] : createOthers(server)
  const all: readonly NetServer[] = [server, ...others]

  for (const other of others) {
    other.on('connection', (socket: Socket) => void server.emit('connection', socket))
  }
  for (const one of all) {
    // Without a listener, an error of accept would end the process.
    one.on('error', ({ syscall }: NodeJS.ErrnoException) => {
      if (syscall === 'accept') acceptFailed()
    })
  }

  /** Admits or rejects a connection before any other listener sees it. */
  function guard(): void {
    const listeners = server.listeners('connection')
    server.removeAllListeners('connection')
    server.on('connection', (socket: Socket) => {
      if (!admit(socket)) return
      for (const listener of listeners) listener.call(server, socket)
    })
  }

  const closed: Promise<unknown>[] = []
  function stopListening(one: NetServer): void {
    if (!one.listening) return
    closed.push(once(one, 'close'))
    // The close() of HTTP servers would also close idle connections.
    NetServer.prototype.close.call(one)
  }

  return {
    /** Listens and returns the port that was bound. Throws a Fault if the port is in use. */
    async open({ host, port }: Address) {
      guard()
      // With reusePort, two gateways would share a port silently: so check first that it is free.
      const free = others.length === 0 || port === 0 ? host : await freeAddress({ host, port })
      // Alone it is refused a port in use, with the reason.
      if (others.length === 0 || free === undefined) return listen(server, { host, port })
      try {
        const backlog = server instanceof TlsServer ? tlsBacklogSize : backlogSize
        const bound = await listenOn(server, { host: free, port, reusePort: true, backlog })
        // A name may have several addresses: all sockets listen on the same one.
        const { address } = server.address() as AddressInfo
        const same = { host: address, port: bound, reusePort: true, backlog }
        await allOf(others.map((other) => listenOn(other, same)))
        return bound
      } catch {
        // The system does not support reusePort: one socket is enough to serve.
        for (const one of all) stopListening(one)
        return listen(server, { host, port })
      }
    },
    /** Accepts no more connections. Resolves when all accepted ones are closed. */
    async close() {
      for (const one of all) stopListening(one)
      await Promise.all(closed)
    },
  }
}

function createOthers(server: PublicListener): readonly NetServer[] {
  const { allowHalfOpen } = server as { allowHalfOpen?: boolean }
  const options = { allowHalfOpen: allowHalfOpen ?? false, noDelay: true }
  const count = server instanceof TlsServer ? tlsListenerCount : listenerCount
  return Array.from({ length: count - 1 }, () => createServer(options))
}

/** Waits until all are settled, then rejects if one of them did. */
async function allOf(promises: readonly Promise<unknown>[]): Promise<void> {
  await Promise.allSettled(promises)
  await Promise.all(promises)
}

/** A socket that is bound to an address. */
interface BoundHandle {
  /** Returns 0 and fills in the port, or the error of the system. */
  getsockname(out: { port?: number }): number
  close(): void
}

/** Binds without listening, which `node:cluster` needs too; Node has no public function for it. */
const { _createServerHandle: bind } = net as {
  _createServerHandle?: (address: string, port: number, family: number) => BoundHandle | number
}

/**
 * The address of the host, if the port is free there. The socket never listens: clients that retry
 * until the gateway has started would connect to it, and be reset when it closes.
 */
async function freeAddress({ host, port }: Address): Promise<string | undefined> {
  const found = await lookup(host).catch(() => undefined)
  const handle = found && bind?.(found.address, port, found.family)
  if (found === undefined || typeof handle !== 'object') return undefined
  const bound: { port?: number } = {}
  // The system's refusal shows only here.
  const isFree = handle.getsockname(bound) === 0 && bound.port === port
  handle.close()
  return isFree ? found.address : undefined
}
