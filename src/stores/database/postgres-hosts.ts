import type { Client, ClientBase, ClientConfig } from 'pg'
import type { DatabaseHosts, SessionAttributes } from '../../kernel/database-url.ts'
import { isConnectionError } from './database-fault.ts'

/** The servers of one database, and the one that connections go to now. */
interface PostgresHosts {
  readonly count: number
  /** The URL to connect to now, and which of them it is. */
  current(): { readonly url: string; readonly at: number }
  /** This one failed: others are tried first from now on, unless that is so already. */
  leave(at: number): void
}

export function createPostgresHosts({ urls, random }: DatabaseHosts): PostgresHosts {
  let chosen = random ? Math.floor(Math.random() * urls.length) : 0
  return {
    count: urls.length,
    current: () => ({ url: urls[chosen] ?? '', at: chosen }),
    leave(at) {
      if (at === chosen) chosen = (chosen + 1) % urls.length
    },
  }
}

/** A server that answers and is not what `target_session_attrs` asks for. */
class WrongServer extends Error {
  readonly code = 'WRONG_SERVER'
}

/** Throws `WrongServer` when a new connection leads to a server that must not be used. */
export async function checkSession(client: ClientBase, session: SessionAttributes): Promise<void> {
  if (session === 'any') return
  const { rows } = await client.query<{ standby: boolean; readOnly: string }>(
    `select pg_is_in_recovery() as standby, current_setting('transaction_read_only') as "readOnly"`,
  )
  const [found] = rows
  if (session === 'primary' ? found?.standby === false : found?.readOnly === 'off') return
  throw new WrongServer(`the server is not ${session}`)
}

/** Whether another server may do better: libpq does not go on after a refused password either. */
export function shouldTryNextHost(error: unknown): boolean {
  // The pool was busy for too long: that says nothing about a server.
  if (error instanceof Error && error.message === 'timeout exceeded when trying to connect') {
    return false
  }
  return isConnectionError(error)
}

/** The SQLSTATE of a server that has become read-only. */
export function isReadOnly(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === '25006'
}

/** A client class for the driver's pool that connects to the current host. */
export function clientFor(Base: typeof Client, hosts: PostgresHosts) {
  return class HostClient extends Base {
    readonly hostAt: number

    constructor(config?: string | ClientConfig) {
      const { url, at } = hosts.current()
      super({ ...(typeof config === 'object' && config), connectionString: url })
      this.hostAt = at
    }
  }
}
