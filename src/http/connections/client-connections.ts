import type { Socket } from 'node:net'
import { addressBlock } from '../../login/address-block.ts'
import type { ConnectionBound } from '../../metrics/connection-metrics.ts'
import type { ClientFaults } from './client-faults.ts'
import { createIdleNode, IdleList } from './idle-list.ts'
import { endsOf, peerAddress } from './peer-address.ts'

export interface ConnectionLimits {
  /** The most connections at a time. */
  readonly most: number
  /** The most connections of one client address; absent if all clients are proxies. */
  readonly perAddress?: number | undefined
  /** Whether an address is exempt from that: a proxy carries the connections of many clients. */
  readonly isExempt?: (address: string) => boolean
  /** The first file descriptor that is not for clients; absent if unknown. */
  readonly descriptors?: number | undefined
  /** Whether the port speaks TLS. */
  readonly tls?: boolean
}

/** One connection of a client. */
export interface ClientConnection {
  /** When it became idle, in `performance.now()` time. */
  readonly idleSince: number
  /** A request begins. */
  began(): void
  /** Whether its address may have one more request: a connection of HTTP/2 has many. */
  mayBegin(): boolean
  /** The response has been sent. */
  ended(): void
}

export type ClientConnections = ReturnType<typeof createClientConnections>

/**
 * A new connection is not evicted for this long: a burst larger than the limit would otherwise evict
 * itself, unread.
 */
const minIdleMs = 500

/** Connections with a common limit: all of a port, or those of one client address. */
class Group {
  readonly key: string
  readonly idle = new IdleList<Connection>()
  open = 0
  active = 0
  /** Requests in progress, and how many there may be. */
  requests = 0
  readonly maxRequests: number

  constructor(key: string, maxRequests = Number.POSITIVE_INFINITY) {
    this.key = key
    this.maxRequests = maxRequests
  }
}

class Connection implements ClientConnection {
  readonly address: string
  idleSince = performance.now()
  /** The socket that closes it: with TLS, the TLS socket. */
  socket: Socket
  readonly #memberships
  #requests = 0
  #closed = false

  constructor(socket: Socket, address: string, groups: readonly Group[]) {
    this.socket = socket
    this.address = address
    this.#memberships = groups.map((group) => ({ group, node: createIdleNode<Connection>(this) }))
    for (const { group, node } of this.#memberships) {
      group.open++
      group.idle.add(node)
    }
  }

  mayBegin(): boolean {
    return this.#memberships.every(({ group }) => group.requests < group.maxRequests)
  }

  began(): void {
    const isFirst = this.#requests++ === 0
    if (this.#closed) return
    for (const { group, node } of this.#memberships) {
      group.requests++
      if (!isFirst) continue
      group.active++
      group.idle.remove(node)
    }
  }

  ended(): void {
    const wasLast = --this.#requests === 0
    if (this.#closed) return
    if (wasLast) this.idleSince = performance.now()
    for (const { group, node } of this.#memberships) {
      group.requests--
      if (!wasLast) continue
      group.active--
      group.idle.add(node)
    }
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    for (const { group, node } of this.#memberships) {
      group.open--
      group.requests -= this.#requests
      if (this.#requests > 0) group.active--
      else group.idle.remove(node)
    }
  }
}

/**
 * Every connection of a port, idle or active. At a limit, a new connection replaces the one that has
 * been idle longest, of all or of its address; if all are active, the new one is rejected. A connection
 * with an incomplete request counts as idle: slow requests (Slowloris) must not keep good clients out.
 */
export function createClientConnections(
  { most, perAddress, isExempt = () => false, descriptors, tls = false }: ConnectionLimits,
  { rejected, closed }: Pick<ClientFaults, 'rejected' | 'closed'>,
) {
  const all = new Group('all')
  const addresses = new Map<string, Group>()
  const connections = new WeakMap<Socket, Connection>()
  /** Connections in a TLS handshake, by their two addresses; unused without TLS. */
  const handshaking = new Map<string, Connection>()

  function groupOf(address: string): Group | undefined {
    if (perAddress === undefined || isExempt(address)) return undefined
    const key = addressBlock(address)
    return addresses.get(key) ?? new Group(key, perAddress)
  }

  function makeRoom({ idle }: Group, bound: ConnectionBound): boolean {
    const longest = idle.longest()
    if (longest === undefined || performance.now() - longest.idleSince < minIdleMs) return false
    longest.close()
    longest.socket.destroy()
    closed(bound, longest.address)
    return true
  }

  /** The limit that rejects one more connection, if any. */
  function fullBound(socket: Socket, own: Group | undefined): ConnectionBound | undefined {
    // An eviction for one limit makes room for the others too.
    if (own !== undefined && perAddress !== undefined && own.open >= perAddress) {
      return makeRoom(own, 'address') ? undefined : 'address'
    }
    if (all.open >= most) return makeRoom(all, 'connections') ? undefined : 'connections'
    if (descriptors !== undefined && descriptorOf(socket) >= descriptors) {
      return makeRoom(all, 'descriptors') ? undefined : 'descriptors'
    }
    return undefined
  }

  function hold(socket: Socket, address: string, own: Group | undefined): void {
    const connection = new Connection(socket, address, own === undefined ? [all] : [all, own])
    connections.set(socket, connection)
    if (own !== undefined) addresses.set(own.key, own)
    const ends = tls ? endsOf(socket) : ''
    if (tls) handshaking.set(ends, connection)
    socket.once('close', () => {
      connection.close()
      if (tls && handshaking.get(ends) === connection) handshaking.delete(ends)
      if (own?.open === 0 && addresses.get(own.key) === own) addresses.delete(own.key)
    })
  }

  return {
    /** Whether a new connection is accepted; a rejected one is closed already. */
    admit(socket: Socket) {
      const address = peerAddress(socket)
      // The client has already reset it.
      if (address === undefined) {
        socket.destroy()
        return false
      }
      const own = groupOf(address)
      const full = fullBound(socket, own)
      if (full === undefined) hold(socket, address, own)
      else {
        socket.destroy()
        rejected(full, address)
      }
      return full === undefined
    },
    /** The system could not accept a connection, for lack of file descriptors or memory. */
    acceptFailed: () => rejected('descriptors', undefined),
    /** For an admitted connection. With TLS, for either of its two socket objects. */
    of(socket: Socket): ClientConnection {
      const known = connections.get(socket)
      if (known !== undefined) return known
      // TLS continues in another socket object with the same addresses.
      const connection = handshaking.get(endsOf(socket)) ?? new Connection(socket, '', [])
      handshaking.delete(endsOf(socket))
      connection.socket = socket
      connections.set(socket, connection)
      return connection
    },
    counts: () => ({ idle: all.open - all.active, active: all.active }),
  }
}

/** The system assigns the lowest free descriptor, so its number shows how many are in use. */
function descriptorOf(socket: Socket): number {
  return (socket as { _handle?: { readonly fd?: number } | null })._handle?.fd ?? -1
}
