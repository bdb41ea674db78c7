import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { connect as connectPlain, isIP, type Socket } from 'node:net'
import { connect as connectSecure } from 'node:tls'
import type { Deadline } from './deadline.ts'
import { DirectoryError, reasonOf } from './directory-error.ts'
import { agreeOnTls } from './start-tls.ts'

export interface ServerAddress {
  readonly url: string
  readonly startTls: boolean
  readonly caFile?: string | undefined
  readonly serverName?: string | undefined
}

/** A connection on which passwords can be sent: its certificate is verified. */
export async function openSocket(server: ServerAddress, deadline: Deadline): Promise<Socket> {
  const opened: Socket[] = []
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error('timeout while connecting')), deadline.leftMs())
  try {
    return await Promise.race([open(server, opened), late])
  } catch (error) {
    for (const socket of opened) socket.destroy()
    throw new DirectoryError(`${server.url}: ${reasonOf(error)}`, error)
  } finally {
    clearTimeout(timer)
  }
}

async function open(server: ServerAddress, opened: Socket[]): Promise<Socket> {
  const { protocol, hostname, port } = new URL(server.url)
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  const isSecure = protocol === 'ldaps:'
  // Read each time, so that a renewed file is used without a restart.
  const tls = isSecure || server.startTls ? await tlsOptions(server, host) : undefined
  const plain = connectPlain({ host, port: Number(port || (isSecure ? 636 : 389)) })
  keep(plain, opened)
  await once(plain, 'connect')
  plain.setKeepAlive(true, 30_000)
  plain.setNoDelay(true)
  if (tls === undefined) return plain

  if (!isSecure) await agreeOnTls(plain)
  const secure = connectSecure({ ...tls, socket: plain })
  keep(secure, opened)
  await once(secure, 'secureConnect')
  return secure
}

/** An error after the connection was given up must not end the process. */
function keep(socket: Socket, opened: Socket[]): void {
  socket.on('error', () => {})
  opened.push(socket)
}

async function tlsOptions({ caFile, serverName }: ServerAddress, host: string) {
  return {
    // Whatever NODE_TLS_REJECT_UNAUTHORIZED says: passwords follow.
    rejectUnauthorized: true,
    // Without a name, Node verifies the certificate for `localhost`.
    host,
    ...(serverName !== undefined && { servername: serverName }),
    ...(serverName === undefined && isIP(host) === 0 && { servername: host }),
    ...(caFile !== undefined && { ca: await readFile(caFile, 'utf8') }),
  }
}
