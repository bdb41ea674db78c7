import { createServer, type Server, type ServerOptions } from 'node:http'
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https'

/** What the public port listens with. */
export type PublicListener = Server | TlsServer

/** What it needs to speak TLS. */
export interface PublicTls {
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3'
  /** The certificate and its key, as PEM, in force now. */
  readonly current: () => CertificatePair
  readonly onChange: (listener: (pair: CertificatePair) => void) => void
  /** Shared by processes that serve one port, so that a client can go on with any of them. */
  readonly ticketKeys?: Buffer
  /** A client and we did not come to speak TLS with each other. */
  readonly failed: () => void
}

interface CertificatePair {
  readonly cert: string
  readonly key: string
}

type ListenerOptions = ServerOptions & { readonly headersTimeout: number }

/** Nothing but HTTP/1.1, in the clear or over TLS. */
export function createListener(
  tls: PublicTls | undefined,
  options: ListenerOptions,
): PublicListener {
  if (tls === undefined) return createServer(options)

  const { minVersion, ticketKeys } = tls
  const lasting = { minVersion, ...(ticketKeys !== undefined && { ticketKeys }) }
  const server = createTlsServer({
    ...options,
    ...tls.current(),
    ...lasting,
    ALPNProtocols: ['http/1.1'],
    // A client that connects and never says hello holds what one that never asks would.
    handshakeTimeout: options.headersTimeout,
  })
  // Connections that are open keep what they began with.
  tls.onChange((pair) => server.setSecureContext({ ...pair, ...lasting }))
  // Before Node's own listener, which would have us answer in HTTP where there is no TLS yet.
  server.prependListener('tlsClientError', (_, socket) => {
    tls.failed()
    socket.destroy()
  })
  return server
}
