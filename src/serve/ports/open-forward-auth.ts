import type { Server } from 'node:http'
import type { ClientConnections } from '../../http/connections/client-connections.ts'
import { createDrain } from '../../http/port/drain.ts'
import { createListeners } from '../../http/port/listeners.ts'
import type { ServeOptions } from '../options.ts'
import { drainOptions, drainTimes, listenerSettings } from './draining.ts'

/** The port for forward-auth requests, if enabled. `close` may be called twice. */
export async function openForwardAuth(
  options: ServeOptions,
  clients: ClientConnections,
  create: () => Server,
): Promise<{ port: number | undefined; close(): Promise<void> }> {
  const { forwardAuth } = options.config
  if (!forwardAuth.enabled) return { port: undefined, close: async () => {} }
  const server = create()
  const listeners = createListeners(server, clients, listenerSettings(options))
  const drain = createDrain(server, listeners, drainTimes(options.config), drainOptions(options))
  const port = await listeners.open(forwardAuth)
  let closed: Promise<void> | undefined
  return {
    port,
    close() {
      closed ??= drain.close()
      return closed
    },
  }
}
