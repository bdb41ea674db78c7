import type { Socket } from 'node:net'
import { addressBlock } from '../../login/address-block.ts'
import type { ConnectionBound } from '../../metrics/connection-metrics.ts'
import type { ClientFaults } from './client-faults.ts'
import { createPlace, IdleList } from './idle-list.ts'
import { endsOf, peerAddress } from './peer-address.ts'

export interface ConnectionLimits {
  /** The most connections at a time. */
  readonly most: number
  /** The most of one client address; absent where all clients are proxies. */
  readonly perAddress?: number | undefined
  /** Whether an address is exempt from that: a proxy has the connections of many clients. */
  readonly isExempt?: (address: string) => boolean
  /** The first descriptor that is not for clients; absent where that is not known. */
  readonly descriptors?: number | undefined
  /** Whether the port speaks TLS. */
  readonly tls?: boolean
}

/** One connection of a client. */
export interface ClientConnection {
  /** Since when it has had no request, by the clock of `performance`. */
  readonly idleSince: number
  /** A request on it begins. */
  began(): void
  /** That request has its response. */
  ended(): void
}

export interface ClientConnections {
  /** Whether a new connection may stay; one that may not is closed already. */
  readonly admit: (socket: Socket) => boolean
  /** The system could not hand over a connection, for lack of descriptors or memory. */
  readonly acceptFailed: () => void
  /** Of a connection that was admitted. With TLS, of either of its sockets. */
  readonly of: (socket: Socket) => ClientConnection
  readonly counts: () => { readonly idle: number; readonly active: number }
}

/**
 * A client gets this long to send its request before another may push it out: else a burst larger
 * than the bound would push itself out, unread.
 */
const sparedMs = 500

/** Connections that share a bound: all of a port, or those of one client address. */
class Group {
  readonly key: string
  readonly idle = new IdleList<Connection>()
  open = 0
  active = 0

  constructor(key: string) {
    this.key = key
  }
}

class Connection implements ClientConnection {
  readonly address: string
  idleSince = performance.now()
  /** What closes it: with TLS, the socket that speaks it. */
  socket: Socket
  readonly #memberships
  #requests = 0
  #closed = false

  constructor(socket: Socket, address: string, groups: readonly Group[]) {
    this.socket = socket
    this.address = address
    this.#memberships = groups.map((group) => ({ group, place: createPlace<Connection>(this) }))
    for (const { group, place } of this.#memberships) {
      group.open++
      group.idle.add(place)
    }
  }

  began(): void {
    if (this.#requests++ > 0 || this.#closed) return
    for (const { group, place } of this.#memberships) {
      group.active++
      group.idle.remove(place)
    }
  }

  ended(): void {
    if (--this.#requests > 0 || this.#closed) return
    this.idleSince = performance.now()
    for (const { group, place } of this.#memberships) {
      group.active--
      group.idle.add(place)
    }
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    for (const { group, place } of this.#memberships) {
      group.open--
      if (this.#requests > 0) group.active--
      else group.idle.remove(place)
    }
  }
}

/**
 * Every connection of a port, and which of them have no request. When a bound is reached, a new
 * connection takes the place of the one that has been idle longest, of all or of its address; when
 * all are busy, the new one is refused. A connection that has sent half of a request counts as
 * idle: slow heads must not hold the places of good clients.
 */
export function createClientConnections(
  { most, perAddress, isExempt = () => false, descriptors, tls = false }: ConnectionLimits,
  { rejected, closed }: Pick<ClientFaults, 'rejected' | 'closed'>,
): ClientConnections {
  const all = new Group('all')
  const addresses = new Map<string, Group>()
  const connections = new WeakMap<Socket, Connection>()
  /** By their ends, those on which TLS has not begun; unused without TLS. */
  const greeting = new Map<string, Connection>()

  function groupOf(address: string): Group | undefined {
    if (perAddress === undefined || isExempt(address)) return undefined
    const key = addressBlock(address)
    return addresses.get(key) ?? new Group(key)
  }

  function makeRoom({ idle }: Group, bound: ConnectionBound): boolean {
    const longest = idle.longest()
    if (longest === undefined || performance.now() - longest.idleSince < sparedMs) return false
    longest.close()
    longest.socket.destroy()
    closed(bound, longest.address)
    return true
  }

  /** Which bound leaves no room for one more, if one does. */
  function fullBound(socket: Socket, own: Group | undefined): ConnectionBound | undefined {
    // Room that is made within one bound is room within the others.
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
    if (tls) greeting.set(ends, connection)
    socket.once('close', () => {
      connection.close()
      if (tls && greeting.get(ends) === connection) greeting.delete(ends)
      if (own?.open === 0 && addresses.get(own.key) === own) addresses.delete(own.key)
    })
  }

  return {
    admit(socket) {
      const address = peerAddress(socket)
      // Its client has reset it already.
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
    acceptFailed: () => rejected('descriptors', undefined),
    of(socket) {
      const known = connections.get(socket)
      if (known !== undefined) return known
      // TLS goes on in another object, which has the ends of the one that was admitted.
      const connection = greeting.get(endsOf(socket)) ?? new Connection(socket, '', [])
      greeting.delete(endsOf(socket))
      connection.socket = socket
      connections.set(socket, connection)
      return connection
    },
    counts: () => ({ idle: all.open - all.active, active: all.active }),
  }
}

/** The system gives the lowest that is free, so a high one says how many are in use. */
function descriptorOf(socket: Socket): number {
  return (socket as { _handle?: { readonly fd?: number } | null })._handle?.fd ?? -1
}
