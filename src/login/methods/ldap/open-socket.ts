import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { connect as connectPlain, isIP, type Socket } from 'node:net'
import { connect as connectSecure } from 'node:tls'
import type { Deadline } from './deadline.ts'
import { DirectoryError, reasonOf } from './directory-error.ts'

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

/** LDAPMessage { messageID 1, ExtendedRequest { 1.3.6.1.4.1.1466.20037 } } (RFC 4511 4.14). */
const request = Buffer.concat([
  Buffer.from([0x30, 0x1d, 0x02, 0x01, 0x01, 0x77, 0x18, 0x80, 0x16]),
  Buffer.from('1.3.6.1.4.1.1466.20037'),
])

const longestAnswer = 4096

/**
 * Asks a server to speak TLS, and returns when it agreed and not one byte more was received. Bytes
 * after the answer come from an attacker in between, and would be read as if TLS had protected them.
 * The library would keep them, so this runs before it sees the connection.
 */
function agreeOnTls(socket: Socket): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  let received: Buffer = Buffer.alloc(0)

  function read(chunk: Buffer): void {
    received = Buffer.concat([received, chunk])
    try {
      const answer = readAnswer(received)
      if (answer === undefined) {
        if (received.length > longestAnswer) throw new Error('the answer to StartTLS is too long')
        return
      }
      if (answer.code !== 0) throw new Error(`StartTLS refused with result code ${answer.code}`)
      if (answer.end !== received.length) throw new Error('plain text after the answer to StartTLS')
      resolve()
    } catch (error) {
      reject(error)
    }
  }

  const closed = () => reject(new Error('connection closed'))
  socket.on('data', read)
  socket.once('error', reject)
  socket.once('close', closed)
  socket.write(request)
  return promise.finally(() => {
    socket.off('data', read)
    socket.off('error', reject)
    socket.off('close', closed)
  })
}

/** `undefined` while it is incomplete. Throws when it is not an answer to the request. */
function readAnswer(bytes: Buffer): { readonly code: number; readonly end: number } | undefined {
  const message = readHeader(bytes, 0, 0x30)
  if (message === undefined || bytes.length < message.end) return undefined
  const id = readHeader(bytes, message.start, 0x02)
  const response = id && readHeader(bytes, id.end, 0x78)
  const code = response && readHeader(bytes, response.start, 0x0a)
  if (!code || bytes[id.start] !== 1 || id.end - id.start !== 1 || code.end - code.start !== 1) {
    throw new Error('the server does not speak LDAP')
  }
  return { code: bytes[code.start] ?? -1, end: message.end }
}

/** Tag and length in BER. Active Directory writes lengths in the long form. */
function readHeader(bytes: Buffer, at: number, tag: number) {
  if (bytes.length > at && bytes[at] !== tag) throw new Error('the server does not speak LDAP')
  const first = bytes[at + 1]
  if (first === undefined) return undefined
  if (first < 0x80) return { start: at + 2, end: at + 2 + first }
  const size = first & 0x7f
  if (size === 0 || size > 4) throw new Error('the server does not speak LDAP')
  const start = at + 2 + size
  if (bytes.length < start) return undefined
  return { start, end: start + bytes.readUIntBE(at + 2, size) }
}
