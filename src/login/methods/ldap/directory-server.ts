import type { Deadline } from './deadline.ts'
import { DirectoryConnection, type SearchRequest } from './directory-connection.ts'
import { DirectoryError } from './directory-error.ts'
import type { DirectorySettings } from './settings.ts'

/** Active Directory locks an account after a few wrong passwords, ours included. */
const refusedPauseMs = 30_000
/** Firewalls drop idle connections without a word. */
const maxIdleMs = 60_000

/** One server of the directory. */
export type DirectoryServer = ReturnType<typeof createDirectoryServer>

/** A server, as the service account, or the connection of a person. */
export type Searcher = Pick<DirectoryServer, 'url' | 'search'>

/**
 * The connection of the service account is opened and bound once for all logins that need it at the
 * same time: two first operations at once on one client of the library would wait for ever.
 */
export function createDirectoryServer(url: string, settings: DirectorySettings) {
  const { startTls, caFile, serverName, connectTimeoutMs, bindDn, bindPassword } = settings
  const address = { url, startTls, caFile, serverName }
  let shared: DirectoryConnection | undefined
  let opening: Promise<DirectoryConnection> | undefined
  let usedAt = 0
  let refusedAt = -Infinity
  let closed = false

  const connect = (deadline: Deadline) =>
    DirectoryConnection.open(address, deadline.part(1, connectTimeoutMs))

  async function open(deadline: Deadline): Promise<DirectoryConnection> {
    if (bindDn === undefined || bindPassword === undefined) {
      throw new DirectoryError(`${url}: no service account is configured`)
    }
    const refused = new DirectoryError(
      `${url}: the directory refused login.ldap.bindDn; check bindDn and bindPassword`,
    )
    if (performance.now() - refusedAt < refusedPauseMs) throw refused
    const connection = await connect(deadline)
    if (await connection.bind(bindDn, bindPassword, deadline)) return connection
    refusedAt = performance.now()
    throw refused
  }

  async function service(deadline: Deadline): Promise<DirectoryConnection> {
    opening ??= open(deadline).finally(() => {
      opening = undefined
    })
    shared = await opening
    // Else a connection that was being opened at shutdown would keep the process alive.
    if (closed) shared.close()
    return shared
  }

  /** The connection that is open already, if it is likely to work. */
  function kept(): DirectoryConnection | undefined {
    const idleMs = performance.now() - usedAt
    usedAt = performance.now()
    if (shared?.isBound && idleMs < maxIdleMs) return shared
    shared?.close()
    return undefined
  }

  return {
    url,
    /** A connection for one login: a bind changes whose connection it is. */
    connect,
    /** Searches as the service account. */
    async search(request: SearchRequest, deadline: Deadline) {
      const old = kept()
      if (old !== undefined) {
        // The server may have closed it, or a firewall dropped it: then a new one can answer.
        const entries = await old.search(request, deadline.part(1 / 2)).catch(() => undefined)
        if (entries !== undefined) return entries
      }
      return (await service(deadline)).search(request, deadline)
    },
    /** Throws unless the service account, if one is configured, can search. */
    async probe(deadline: Deadline) {
      if (bindDn === undefined) (await connect(deadline)).close()
      else await service(deadline)
    },
    close() {
      closed = true
      shared?.close()
    },
  }
}
