import {
  connect as connectPlain,
  isIP,
  type LookupFunction,
  type OnReadOpts,
  type Socket,
} from 'node:net'
import { connect as connectTls, type SecureContext } from 'node:tls'
import { createNameLookup, type OnLookup } from './name-lookup.ts'

/** How an https target is verified. Verification cannot be turned off. */
export interface TargetTls {
  /** The trusted CAs, and our client certificate for a target that asks for one. */
  readonly secureContext: SecureContext
  /** The name in its certificate. Unset: the target's host name. */
  readonly serverName?: string | undefined
}

/** Opens connections. A socket is ready when it emits `readyEvent`. */
export interface Connector {
  readonly readyEvent: 'connect' | 'secureConnect'
  /** With `onread`, bytes bypass the stream. */
  readonly open: (onread?: OnReadOpts) => Socket
}

interface ConnectorOptions {
  readonly onLookup?: OnLookup | undefined
  /** The protocols to offer in TLS. */
  readonly alpn?: readonly string[] | undefined
}

/**
 * Connects to an origin, at one address if that is given. Host header and certificate check use the
 * name in both cases.
 */
export function createConnector(
  origin: URL,
  address: string | undefined,
  tls: TargetTls | undefined,
  { onLookup, alpn = ['http/1.1'] }: ConnectorOptions = {},
): Connector {
  const secure = origin.protocol === 'https:'
  const host = origin.hostname.replace(/^\[|\]$/g, '')
  const to = {
    host,
    port: Number(origin.port) || (secure ? 443 : 80),
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: 60_000,
    lookup: address === undefined ? createNameLookup(onLookup) : fixedLookup(address),
  }
  if (!secure) {
    return {
      readyEvent: 'connect',
      open: (onread) => connectPlain(onread === undefined ? to : { ...to, onread }),
    }
  }

  // RFC 6066 3: an IP address is not a server name.
  const serverName = tls?.serverName ?? (isIP(host) === 0 ? host : '')
  let session: Buffer | undefined
  return {
    readyEvent: 'secureConnect',
    open(onread) {
      const socket = connectTls({
        ...to,
        servername: serverName,
        rejectUnauthorized: true,
        ALPNProtocols: [...alpn],
        ...(tls !== undefined && { secureContext: tls.secureContext }),
        ...(session !== undefined && { session }),
        ...(onread !== undefined && { onread }),
      })
      socket.on('session', (fresh) => {
        session = fresh
      })
      // Do not offer a session again that the server may have rejected.
      socket.on('error', () => {
        session = undefined
      })
      return socket
    },
  }
}

/** A lookup with a fixed result. */
function fixedLookup(address: string): LookupFunction {
  const family = isIP(address)
  return (_, options, found) => {
    if (options.all === true) found(null, [{ address, family }])
    else found(null, address, family)
  }
}
