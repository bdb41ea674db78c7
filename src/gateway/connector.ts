import { isIP, type LookupFunction } from 'node:net'
import type { SecureContext } from 'node:tls'
import { buildConnector } from 'undici'

/** How an https target is verified. There is no way to leave that out. */
export interface TargetTls {
  /** Whom to believe, and our own certificate for a target that asks for one. */
  readonly secureContext: SecureContext
  /** The name that its certificate must have; without it, that of the target. */
  readonly serverName?: string | undefined
}

interface ConnectorSettings {
  readonly connectTimeoutMs: number
  readonly tls?: TargetTls | undefined
}

/**
 * Opens connections to a target, at one address when one is given. Never without verification, and
 * under the name that is configured: the one that undici found in a Host header is passed over.
 */
export function createConnector(
  address: string | undefined,
  { connectTimeoutMs, tls }: ConnectorSettings,
): buildConnector.connector {
  const connect = buildConnector({
    timeout: connectTimeoutMs,
    allowH2: false,
    rejectUnauthorized: true,
    ...(tls !== undefined && { secureContext: tls.secureContext }),
    // Only the way there is fixed: Host header and certificate are those of the name.
    ...(address !== undefined && { lookup: leadingTo(address) }),
  })
  return ({ servername: _, ...options }, callback) =>
    connect(
      { ...options, ...(tls?.serverName !== undefined && { servername: tls.serverName }) },
      callback,
    )
}

/** A look-up that knows the answer. */
function leadingTo(address: string): LookupFunction {
  const family = isIP(address)
  return (_, options, found) => {
    if (options.all === true) found(null, [{ address, family }])
    else found(null, address, family)
  }
}
