import { once } from 'node:events'
import type { AddressInfo, Server } from 'node:net'
import { Fault } from '../errors.ts'

/**
 * How many clients may wait to be taken; the system allows what it allows (net.core.somaxconn).
 * Beyond that it lets go of their first packet, and they try again after a second and after three:
 * with Node's 511, that met half of a thousand who came back after a restart.
 */
const mostUntaken = 4096

/** Listens and returns the port that was bound. A port in use is said in one line. */
export async function listen(
  server: Server,
  { host, port }: { readonly host: string; readonly port: number },
  prepare: () => PromiseLike<unknown> = async () => {},
): Promise<number> {
  await prepare()
  server.listen({ port, host, backlog: mostUntaken })
  try {
    await once(server, 'listening')
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'error'
    const hint =
      code === 'EADDRINUSE'
        ? 'it is in use; stop the other program or choose another port'
        : `the system says ${code}`
    throw new Fault('port', { reason: `cannot listen on ${host}:${port}: ${hint}` })
  }
  return (server.address() as AddressInfo).port
}
