import { once } from 'node:events'
import { type ClientHttp2Session, connect, type IncomingHttpHeaders } from 'node:http2'
import { expect, onTestFinished, test } from 'vitest'
import type { Stream, StreamEvents } from '../../src/h2/stream.ts'
import { startSessionServer } from '../support/session-server.ts'

/** Node's client of a server of our sessions that sends back what it gets. */
async function echo(): Promise<ClientHttp2Session> {
  const port = await startSessionServer((stream, { method, path, headers }) =>
    answer(stream, [method, path], headers),
  )
  const client = connect(`http://127.0.0.1:${port}`)
  onTestFinished(() => client.destroy())
  return client
}

function answer(stream: Stream, line: readonly string[], headers: readonly string[]): StreamEvents {
  const custom = headers.filter((_, at) => (headers[at - (at % 2)] ?? '').startsWith('x-'))
  stream.sendHeaders([':status', '200', 'x-line', line.join(' '), ...custom], false)
  return {
    head() {},
    data: (chunk) => void stream.write(chunk, () => stream.consumed(chunk.length)),
    end: () => stream.end(['x-trailer', 'sum']),
    drain() {},
    closed() {},
  }
}

async function call(
  client: ClientHttp2Session,
  headers: IncomingHttpHeaders & { ':path': string },
  body?: Buffer,
) {
  const stream = client.request(headers, { endStream: body === undefined })
  const chunks: Buffer[] = []
  let head: IncomingHttpHeaders = {}
  let trailers: IncomingHttpHeaders = {}
  stream.on('response', (fields) => {
    head = fields
  })
  stream.on('trailers', (fields) => {
    trailers = fields
  })
  stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  stream.end(body)
  await once(stream, 'end')
  return { head, trailers, body: Buffer.concat(chunks) }
}

test('what a client of nghttp2 compresses is read as it was, and what we compress too', async () => {
  const client = await echo()
  const every = Array.from({ length: 94 }, (_, at) => String.fromCharCode(at + 33)).join('')
  for (let round = 0; round < 300; round++) {
    const fresh = `${every.slice(round % 90)}${round}`
    const { head, trailers } = await call(client, {
      ':path': `/p/${round}`,
      'x-every': every,
      'x-fresh': fresh,
    })
    expect(head).toMatchObject({ 'x-line': `GET /p/${round}`, 'x-every': every, 'x-fresh': fresh })
    expect(trailers).toMatchObject({ 'x-trailer': 'sum' })
  }
})

test('bodies go both ways at once, larger than every window', async () => {
  const client = await echo()
  const bodies = Array.from({ length: 8 }, (_, at) => Buffer.alloc(300_000 + at, `${at}`))
  const answers = await Promise.all(
    bodies.map((body) => call(client, { ':path': '/', ':method': 'POST' }, body)),
  )
  for (const [at, { body }] of answers.entries())
    expect(body.equals(bodies[at] as Buffer)).toBe(true)
})
