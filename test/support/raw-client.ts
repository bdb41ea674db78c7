import { once } from 'node:events'
import { connect } from 'node:net'
import { type ConnectionOptions, connect as connectTls } from 'node:tls'
import { type Body, type Field, takeChunked, takeHead, takeSized, valuesOf } from './http-text.ts'

/** One HTTP/1.1 answer, as it stood on the wire. */
export interface RawAnswer {
  readonly status: number
  readonly headers: readonly (readonly [string, string])[]
  readonly body: string
  readonly trailers: readonly Field[]
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
 * nothing more has come for `quietMs`.
 */
export async function sendRaw(
  port: number,
  bytes: string | Buffer | readonly (string | Buffer)[],
  {
    expected = 1,
    quietMs = 5000,
    firstByteMs = 60_000,
    localAddress = '127.0.0.1',
    tls,
    bodiless = false,
  }: {
    expected?: number
    quietMs?: number
    /** How long to wait for the beginning of an answer. Less where none is expected. */
    firstByteMs?: number
    localAddress?: string
    /** Speaks TLS, with these options. */
    tls?: ConnectionOptions
    /** The answers are to HEAD. */
    bodiless?: boolean
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
    let timer = setTimeout(resolve, firstByteMs)
    socket.on('data', (chunk) => {
      chunks.push(chunk)
      clearTimeout(timer)
      timer = setTimeout(resolve, quietMs)
      const answers = parseAnswers(Buffer.concat(chunks), bodiless)
      // An announced close comes, however busy the machine is.
      if (answers.length < expected || answers.at(-1)?.header('connection') === 'close') return
      clearTimeout(timer)
      // Long enough to see a close or a surplus answer that follows at once.
      timer = setTimeout(resolve, 15)
    })
    socket.on('close', () => {
      closed = true
      clearTimeout(timer)
      resolve()
    })
  })
  socket.destroy()
  const all = Buffer.concat(chunks)
  return { answers: parseAnswers(all, bodiless), closed, bytes: all }
}

/** A plain request with these lines, ended properly. */
export function request(line: string, headers: readonly string[] = [], body = ''): string {
  return [`${line} HTTP/1.1`, 'Host: gateway.test', ...headers, '', body].join('\r\n')
}

/**
 * Every complete answer in the bytes; informational ones (1xx) are passed over. `bodiless`: these
 * are answers to HEAD, which announce a body that does not come.
 */
export function parseAnswers(bytes: Buffer, bodiless = false): RawAnswer[] {
  const answers: RawAnswer[] = []
  let rest = bytes.toString('latin1')
  for (;;) {
    const head = takeHead(rest)
    if (head === undefined) return answers
    rest = rest.slice(head.length)
    const status = Number(head.line.split(' ')[1])
    if (status < 200) continue
    const body = bodiless ? takeSized(rest, 0) : takeBody(rest, status, head.fields)
    if (body === undefined) return answers
    rest = rest.slice(body.length)
    answers.push(answer(status, head.fields, body))
  }
}

function takeBody(rest: string, status: number, fields: readonly Field[]): Body | undefined {
  if (status === 204 || status === 304) return takeSized(rest, 0)
  const [length] = valuesOf(fields, 'content-length')
  if (length !== undefined) return takeSized(rest, Number(length))
  if (valuesOf(fields, 'transfer-encoding')[0] === 'chunked') return takeChunked(rest)
  return takeSized(rest, rest.length)
}

function answer(status: number, fields: readonly Field[], { text, trailers }: Body): RawAnswer {
  return {
    status,
    headers: fields.map(([name, value]) => [name.toLowerCase(), value] as const),
    body: text,
    trailers,
    header: (name) => valuesOf(fields, name)[0],
    json: () => JSON.parse(Buffer.from(text, 'latin1').toString('utf8')),
  }
}
