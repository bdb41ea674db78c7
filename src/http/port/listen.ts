import { once } from 'node:events'
import type { AddressInfo, Server } from 'node:net'
import { Fault } from '../../kernel/errors.ts'

/**
 * The accept queue, which net.core.somaxconn may bound further. When it is full, the system drops the
 * first packet of a client, which retries after one second and after three. With Node's 511, half of
 * a thousand clients that came back after a restart had to.
 */
const defaultBacklog = 4096

export interface Address {
  readonly host: string
  readonly port: number
}

/** Listens and returns the port that was bound. Throws a Fault if that fails. */
export async function listen(
  server: Server,
  { host, port }: Address,
  prepare: () => PromiseLike<unknown> = async () => {},
): Promise<number> {
  await prepare()
  try {
    return await listenOn(server, { host, port })
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'error'
    const hint =
      code === 'EADDRINUSE'
        ? 'it is in use; stop the other program or choose another port'
        : `the system reports ${code}`
    throw new Fault('port', { reason: `cannot listen on ${host}:${port}: ${hint}` })
  }
}

/** Like `listen`, but throws the error of the system. `reusePort` shares the port with other sockets that set it. */
export async function listenOn(
  server: Server,
  { backlog = defaultBacklog, ...address }: Address & { reusePort?: boolean; backlog?: number },
): Promise<number> {
  server.listen({ ...address, backlog })
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}
