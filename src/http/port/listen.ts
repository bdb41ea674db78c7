import { once } from 'node:events'
import type { AddressInfo, Server } from 'node:net'
import { Fault } from '../../errors.ts'

/**
 * How many clients may wait to be accepted; the system allows what it allows (net.core.somaxconn).
 * Beyond that it drops their first packet, and they try again after a second and after three: with
 * Node's 511, that met half of a thousand who came back after a restart.
 */
const mostUntaken = 4096

export interface Address {
  readonly host: string
  readonly port: number
}

/** Listens and returns the port that was bound. A port in use is said in one line. */
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
        : `the system says ${code}`
    throw new Fault('port', { reason: `cannot listen on ${host}:${port}: ${hint}` })
  }
}

/** The same with the system's own error. `reusePort`: others of this user that say so too may as well. */
export async function listenOn(
  server: Server,
  { backlog = mostUntaken, ...address }: Address & { reusePort?: boolean; backlog?: number },
): Promise<number> {
  server.listen({ ...address, backlog })
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}
