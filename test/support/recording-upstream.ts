import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { createServer as createTlsServer, type TlsOptions } from 'node:tls'

/** A request as the upstream got it, byte for byte. */
export interface RecordedRequest {
  readonly line: string
  readonly target: string
  readonly method: string
  readonly headers: readonly (readonly [string, string])[]
  readonly body: string
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
  const headEnd = text.indexOf('\r\n\r\n')
  if (headEnd === -1) return undefined
  const [line = '', ...lines] = text.slice(0, headEnd).split('\r\n')
  const headers = lines.map((one) => {
    const colon = one.indexOf(':')
    return [one.slice(0, colon), one.slice(colon + 1).trim()] as const
  })
  const values = (name: string) =>
    headers.filter(([key]) => key.toLowerCase() === name.toLowerCase()).map(([, value]) => value)

  const body = takeBody(text.slice(headEnd + 4), values)
  if (body === undefined) return undefined
  const [method = '', target = ''] = line.split(' ')
  const request = { line, method, target, headers, body: body.text, values }
  return { request, length: headEnd + 4 + body.length }
}

function takeBody(
  rest: string,
  values: RecordedRequest['values'],
): { text: string; length: number } | undefined {
  if (values('transfer-encoding')[0]?.toLowerCase() === 'chunked') {
    let text = ''
    let at = 0
    for (;;) {
      const lineEnd = rest.indexOf('\r\n', at)
      if (lineEnd === -1) return undefined
      const size = Number.parseInt(rest.slice(at, lineEnd), 16)
      const next = lineEnd + 2 + size + 2
      if (rest.length < next) return undefined
      if (size === 0) return { text, length: next }
      text += rest.slice(lineEnd + 2, lineEnd + 2 + size)
      at = next
    }
  }
  const length = Number(values('content-length')[0] ?? 0)
  return rest.length < length ? undefined : { text: rest.slice(0, length), length }
}
