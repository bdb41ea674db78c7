import { createServer, type Server, type ServerOptions } from 'node:http'
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https'

/** The HTTP server of a public port. */
export type PublicListener = Server | TlsServer

/** What it needs for TLS. */
export interface PublicTls {
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3'
  /** The active certificate and its key, as PEM. */
  readonly current: () => CertificatePair
  readonly onChange: (listener: (pair: CertificatePair) => void) => void
  /** Shared by the processes of one port, so that a client can resume a session with any of them. */
  readonly ticketKeys?: Buffer
  /** A TLS handshake failed. */
  readonly failed: () => void
}

interface CertificatePair {
  readonly cert: string
  readonly key: string
}

type ListenerOptions = ServerOptions & { readonly headersTimeout: number }

/** In the clear or over TLS, which offers HTTP/2 beside HTTP/1.1 if that is enabled. */
export function createListener(
  tls: PublicTls | undefined,
  offersHttp2: boolean,
  options: ListenerOptions,
): PublicListener {
  if (tls === undefined) return createServer(options)

  const { minVersion, ticketKeys } = tls
  const lasting = { minVersion, ...(ticketKeys !== undefined && { ticketKeys }) }
  const server = createTlsServer({
    ...options,
    ...tls.current(),
    ...lasting,
    ALPNProtocols: offersHttp2 ? ['h2', 'http/1.1'] : ['http/1.1'],
    // A client that never sends a ClientHello holds as much as one that never sends a request.
    handshakeTimeout: options.headersTimeout,
  })
  // Open connections keep the certificate they began with.
  tls.onChange((pair) => server.setSecureContext({ ...pair, ...lasting }))
  // Before Node's own listener, which would emit clientError and have us answer in plain HTTP.
  server.prependListener('tlsClientError', (_, socket) => {
    tls.failed()
    socket.destroy()
  })
  return server
}
