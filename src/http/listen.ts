import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
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

/** Stops accepting, lets requests in flight finish until the deadline, then cuts what is left. */
export async function closeServer(server: Server, deadlineMs: number): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  // A connection that was busy becomes idle when its answer is out, and would then be kept.
  const sweep = setInterval(() => server.closeIdleConnections(), 50)
  const deadline = setTimeout(() => server.closeAllConnections(), deadlineMs)
  await closed
  clearInterval(sweep)
  clearTimeout(deadline)
}
