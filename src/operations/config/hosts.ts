import { once } from 'node:events'
import { createServer } from 'node:net'
import { type Listener, listenersOf } from '../../config/checks/listeners.ts'
import type { Written } from '../../config/load.ts'
import type { Problem } from '../../kernel/errors.ts'

/**
 * Hosts that this machine cannot listen on: an address of another machine, a name without an address.
 * Tries a free port, because a running gateway may use the configured one.
 */
export async function hostProblems({ draft, placeOf }: Written): Promise<readonly Problem[]> {
  const found = await Promise.all(
    listenersOf(draft).map(async ({ name, host, problem }: Listener) => {
      if (host === undefined || problem !== undefined) return []
      const reason = await listenError(host)
      if (reason === undefined) return []
      const message = `${name}.host: cannot listen on ${host} (${reason}); use an address of this machine, or 0.0.0.0 for all`
      return [{ ...placeOf(`${name}.host`), message }]
    }),
  )
  return found.flat()
}

/** Why this machine cannot listen there, as the code of the system; port 0 is any free one. */
export async function listenError(host: string, port = 0): Promise<string | undefined> {
  const server = createServer().listen({ host, port, exclusive: true })
  try {
    await once(server, 'listening')
    return undefined
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unknown error'
  } finally {
    server.close()
  }
}
