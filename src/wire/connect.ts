import {
  connect as connectPlain,
  isIP,
  type LookupFunction,
  type OnReadOpts,
  type Socket,
} from 'node:net'
import { connect as connectTls, type SecureContext } from 'node:tls'
import { createNameLookup, type OnLookup } from './name-lookup.ts'

/** How an https target is verified. There is no way to leave that out. */
export interface TargetTls {
  /** Whom to believe, and our own certificate for a target that asks for one. */
  readonly secureContext: SecureContext
  /** The name that its certificate must have; without it, that of the target. */
  readonly serverName?: string | undefined
}

/** Opens a connection; it is ready with the event that `readyEvent` names. */
export interface Connector {
  readonly readyEvent: 'connect' | 'secureConnect'
  /** With `onread`, bytes go there and not through the stream. */
  readonly open: (onread?: OnReadOpts) => Socket
}

/**
 * Connects to an origin, at one address when one is given: only the way there is fixed then, Host
 * and certificate stay those of the name. Never without verification.
 */
export function createConnector(
  origin: URL,
  address: string | undefined,
  tls: TargetTls | undefined,
  onLookup?: OnLookup,
): Connector {
  const secure = origin.protocol === 'https:'
  const host = origin.hostname.replace(/^\[|\]$/g, '')
  const to = {
    host,
    port: Number(origin.port) || (secure ? 443 : 80),
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: 60_000,
    lookup: address === undefined ? createNameLookup(onLookup) : leadingTo(address),
  }
  if (!secure) {
    return {
      readyEvent: 'connect',
      open: (onread) => connectPlain(onread === undefined ? to : { ...to, onread }),
    }
  }

  // RFC 6066 3: an address is no server name.
  const serverName = tls?.serverName ?? (isIP(host) === 0 ? host : '')
  let session: Buffer | undefined
  return {
    readyEvent: 'secureConnect',
    open(onread) {
      const socket = connectTls({
        ...to,
        servername: serverName,
        rejectUnauthorized: true,
        ALPNProtocols: ['http/1.1'],
        ...(tls !== undefined && { secureContext: tls.secureContext }),
        ...(session !== undefined && { session }),
        ...(onread !== undefined && { onread }),
      })
      socket.on('session', (fresh) => {
        session = fresh
      })
      // One that the server no longer takes must not be offered again and again.
      socket.on('error', () => {
        session = undefined
      })
      return socket
    },
  }
}

/** A look-up that knows the answer. */
function leadingTo(address: string): LookupFunction {
  const family = isIP(address)
  return (_, options, found) => {
    if (options.all === true) found(null, [{ address, family }])
    else found(null, address, family)
  }
}
