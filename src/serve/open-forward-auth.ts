import type { Server } from 'node:http'
import { createDrain } from '../http/drain.ts'
import { listen } from '../http/listen.ts'
import type { ServeOptions } from '../serve.ts'
import { drainOptions, drainTimes } from './draining.ts'

/** The port for other proxies, if there is to be one. Closing it twice is closing it once. */
export async function openForwardAuth(
  options: ServeOptions,
  create: () => Server,
): Promise<{ port: number | undefined; close(): Promise<void> }> {
  const { forwardAuth } = options.config
  if (!forwardAuth.enabled) return { port: undefined, close: async () => {} }
  const server = create()
  const drain = createDrain(server, drainTimes(options.config), drainOptions(options))
  const port = await listen(server, forwardAuth)
  let closed: Promise<void> | undefined
  return {
    port,
    close() {
      closed ??= drain.close()
      return closed
    },
  }
}
