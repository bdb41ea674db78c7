import { once } from 'node:events'
import type { AddressInfo, Server } from 'node:net'
import { Fault } from '../errors.ts'

/** Listens and returns the port that was bound. A port in use is said in one line. */
export async function listen(
  server: Server,
  { host, port }: { readonly host: string; readonly port: number },
  prepare: () => PromiseLike<unknown> = async () => {},
): Promise<number> {
  await prepare()
  server.listen(port, host)
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
