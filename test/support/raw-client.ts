import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { type ConnectionOptions, connect as connectTls } from 'node:tls'

/** One HTTP/1.1 answer, as it stood on the wire. */
export interface RawAnswer {
  readonly status: number
  readonly headers: readonly (readonly [string, string])[]
  readonly body: string
  header(name: string): string | undefined
  json(): unknown
}

export interface RawExchange {
  readonly answers: readonly RawAnswer[]
  /** Whether the gateway ended the connection by itself. */
  readonly closed: boolean
  readonly bytes: Buffer
}

/**
 * Sends bytes exactly as given and reads until `expected` answers are there, the peer closes, or
 * nothing has come for `quietMs`.
 */
export async function sendRaw(
  port: number,
  bytes: string | Buffer | readonly (string | Buffer)[],
  {
    expected = 1,
    quietMs = 1500,
    localAddress = '127.0.0.1',
    tls,
  }: {
    expected?: number
    quietMs?: number
    localAddress?: string
    /** Speaks TLS, with these options. */
    tls?: ConnectionOptions
  } = {},
): Promise<RawExchange> {
  const there = { port, host: '127.0.0.1', localAddress }
  const socket = tls === undefined ? connect(there) : connectTls({ ...there, ...tls })
  const chunks: Buffer[] = []
  let closed = false
  socket.on('error', () => {})
  await once(socket, tls === undefined ? 'connect' : 'secureConnect')
  const parts = Array.isArray(bytes) ? bytes : [bytes]
  for (const part of parts as (string | Buffer)[]) {
    socket.write(typeof part === 'string' ? Buffer.from(part, 'latin1') : part)
  }

  await new Promise<void>((resolve) => {
    let timer = setTimeout(resolve, quietMs)
    socket.on('data', (chunk) => {
      chunks.push(chunk)
      clearTimeout(timer)
      timer = setTimeout(resolve, quietMs)
      if (parseAnswers(Buffer.concat(chunks)).length >= expected) {
        clearTimeout(timer)
        // Long enough to see a close or a surplus answer that follows at once.
        timer = setTimeout(resolve, 15)
      }
    })
    socket.on('close', () => {
      closed = true
      clearTimeout(timer)
      resolve()
    })
  })
  socket.destroy()
  const all = Buffer.concat(chunks)
  return { answers: parseAnswers(all), closed, bytes: all }
}

/** A plain request with these lines, ended properly. */
export function request(line: string, headers: readonly string[] = [], body = ''): string {
  return [`${line} HTTP/1.1`, 'Host: gateway.test', ...headers, '', body].join('\r\n')
}

/** Every complete answer in the bytes; informational ones (1xx) are passed over. */
export function parseAnswers(bytes: Buffer): RawAnswer[] {
  const answers: RawAnswer[] = []
  let rest = bytes.toString('latin1')
  for (;;) {
    const headEnd = rest.indexOf('\r\n\r\n')
    if (headEnd === -1) return answers
    const [statusLine = '', ...lines] = rest.slice(0, headEnd).split('\r\n')
    const status = Number(statusLine.split(' ')[1])
    const headers = lines.map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const
    })
    rest = rest.slice(headEnd + 4)
    if (status < 200) continue
    const body = takeBody(rest, status, headers)
    if (body === undefined) return answers
    rest = rest.slice(body.length)
    answers.push(answer(status, headers, body.text))
  }
}

function takeBody(
  rest: string,
  status: number,
  headers: RawAnswer['headers'],
): { text: string; length: number } | undefined {
  if (status === 204 || status === 304) return { text: '', length: 0 }
  const find = (name: string) => headers.find(([key]) => key === name)?.[1]
  const length = find('content-length')
  if (length !== undefined) {
    if (rest.length < Number(length)) return undefined
    return { text: rest.slice(0, Number(length)), length: Number(length) }
  }
  if (find('transfer-encoding') !== 'chunked') return { text: rest, length: rest.length }

  let text = ''
  let at = 0
  for (;;) {
    const lineEnd = rest.indexOf('\r\n', at)
    if (lineEnd === -1) return undefined
    const size = Number.parseInt(rest.slice(at, lineEnd), 16)
    if (rest.length < lineEnd + 2 + size + 2) return undefined
    if (size === 0) return { text, length: lineEnd + 4 }
    text += rest.slice(lineEnd + 2, lineEnd + 2 + size)
    at = lineEnd + 2 + size + 2
  }
}

function answer(status: number, headers: RawAnswer['headers'], body: string): RawAnswer {
  return {
    status,
    headers,
    body,
    header: (name) => headers.find(([key]) => key === name.toLowerCase())?.[1],
    json: () => JSON.parse(Buffer.from(body, 'latin1').toString('utf8')),
  }
}

export type { Socket }
