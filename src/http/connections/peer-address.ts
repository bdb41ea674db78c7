import type { Socket } from 'node:net'

/** The address of a client; `undefined` once its connection has gone. */
export function peerAddress({ remoteAddress }: Socket): string | undefined {
  // An IPv4 client on a dual-stack socket is the same client.
  return remoteAddress?.startsWith('::ffff:') ? remoteAddress.slice(7) : remoteAddress
}

/** Both ends of a connection as a key: what TLS goes on in is another object with the same ends. */
export function endsOf({ remoteAddress, remotePort, localAddress }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress}`
}
