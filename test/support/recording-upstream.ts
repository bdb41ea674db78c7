import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { createServer as createTlsServer, type TlsOptions } from 'node:tls'
import { type Field, takeChunked, takeHead, takeSized, valuesOf } from './http-text.ts'

/** A request as the upstream got it, byte for byte. */
export interface RecordedRequest {
  readonly line: string
  readonly target: string
  readonly method: string
  readonly headers: readonly (readonly [string, string])[]
  readonly body: string
  readonly trailers: readonly Field[]
  /** Every value under this name, whatever its case. */
  values(name: string): string[]
}

/** What to send back; the default is a small JSON answer. */
export type Script = (socket: Socket, request: RecordedRequest) => void

export interface RecordingUpstream {
  readonly port: number
  readonly origin: string
  readonly requests: RecordedRequest[]
  /** Everything that ever arrived, also what was no complete request. */
  bytes(): number
  /** Connections that are open now. */
  connections(): number
  answerWith(script: Script): void
  close(): Promise<void>
}

const okBody = '{"ok":true}'
export const ok = [
  'HTTP/1.1 200 OK',
  'Content-Type: application/json',
  `Content-Length: ${okBody.length}`,
  '',
  okBody,
].join('\r\n')

/**
 * An upstream on a bare socket: it records what it gets and says exactly what it is told to. With
 * `tls` it speaks that, and its origin has the name `localhost`.
 */
export async function startRecordingUpstream(tls?: TlsOptions): Promise<RecordingUpstream> {
  const requests: RecordedRequest[] = []
  const sockets = new Set<Socket>()
  let bytes = 0
  let script: Script = (socket) => socket.write(ok)

  const server = tls === undefined ? createServer(take) : createTlsServer(tls, take)
  function take(socket: Socket): void {
    let pending = ''
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    socket.on('data', (chunk) => {
      bytes += chunk.length
      pending += chunk.toString('latin1')
      for (;;) {
        const parsed = parseRequest(pending)
        if (parsed === undefined) return
        pending = pending.slice(parsed.length)
        requests.push(parsed.request)
        script(socket, parsed.request)
      }
    })
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo

  return {
    port,
    origin: tls === undefined ? `http://127.0.0.1:${port}` : `https://localhost:${port}`,
    requests,
    bytes: () => bytes,
    connections: () => sockets.size,
    answerWith(next) {
      script = next
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

function parseRequest(text: string): { request: RecordedRequest; length: number } | undefined {
  const head = takeHead(text)
  if (head === undefined) return undefined
  const values = (name: string) => valuesOf(head.fields, name)
  const rest = text.slice(head.length)
  const body =
    values('transfer-encoding')[0]?.toLowerCase() === 'chunked'
      ? takeChunked(rest)
      : takeSized(rest, Number(values('content-length')[0] ?? 0))
  if (body === undefined) return undefined
  const { line, fields: headers } = head
  const [method = '', target = ''] = line.split(' ')
  const { text: content, trailers } = body
  const request = { line, method, target, headers, body: content, trailers, values }
  return { request, length: head.length + body.length }
}
