import type { Socket } from 'node:net'

/** The address of a client; `undefined` once its connection is closed. */
export function peerAddress({ remoteAddress }: Socket): string | undefined {
  // An IPv4 client on a dual-stack socket is the same client.
  return remoteAddress?.startsWith('::ffff:') ? remoteAddress.slice(7) : remoteAddress
}

/** Both addresses of a connection as a key: TLS continues in another socket object with the same two. */
export function endsOf({ remoteAddress, remotePort, localAddress }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress}`
}
