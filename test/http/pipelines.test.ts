import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { HeadEnds } from '../../src/http/connections/head-ends.ts'
import { KeptBytes } from '../../src/http/connections/kept-bytes.ts'
import { type ByteClient, openByteClient } from '../support/byte-client.ts'
import { type Certificates, createCertificates } from '../support/certificates.ts'
import { metricOf } from '../support/gateway-metrics.ts'
import { request } from '../support/raw-client.ts'
import { ok, type RecordedRequest } from '../support/recording-upstream.ts'
import { startPostern, type TestPostern } from '../support/start-postern.ts'
import { tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'

const asEditor = `Authorization: Bearer ${tokenOf('editor')}`
const get = (path: string | number = 'a', headers: readonly string[] = []) =>
  request(`GET /api/v1/public/${path}`, [asEditor, ...headers])
const upload = (headers: readonly string[] = [asEditor]) =>
  request('POST /api/v1/articles', ['Transfer-Encoding: chunked', ...headers])
/** More than is waited for before a service gets the beginning of an upload. */
const chunk = `11000\r\n${'a'.repeat(0x11000)}\r\n`
const post = (body: string) =>
  request('POST /api/v1/articles', [asEditor, `Content-Length: ${body.length}`], body)

let certificates: Certificates
beforeAll(async () => {
  certificates = await createCertificates()
})
afterAll(() => certificates.remove())

/** Answers with what was asked for: the target, or the body. */
function echo(postern: TestPostern): void {
  postern.upstream.answerWith((socket, { target, body }: RecordedRequest) => {
    const text = body === '' ? target.replace('/api/v1/public/', '') : body
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\n\r\n${text}`)
  })
}

/** A service that answers before it has the whole request. */
async function startEarly(): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => {}).once('data', () => socket.write(ok))
    socket.resume()
    onTestFinished(() => void socket.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe.each([
  ['in the clear, read by us first', { tls: false, node: false }],
  ['in the clear, read by Node', { tls: false, node: true }],
  ['over TLS, read by us first', { tls: true, node: false }],
  ['over TLS, read by Node', { tls: true, node: true }],
])('a connection %s', (_, by) => {
  async function start(early?: string): Promise<{ postern: TestPostern; client: ByteClient }> {
    const files = { certFile: certificates.certificate, keyFile: certificates.key }
    const postern = await startPostern({
      config: {
        ...(by.tls && { tls: files }),
        ...(early !== undefined && { upstreams: { early: { targets: [early] } } }),
      },
      routes: [
        { path: '/', upstream: 'backend' },
        { path: '/open', upstream: 'backend', access: 'public', reason: 'a test' },
        ...(early === undefined ? [] : [{ path: '/api/v1/articles', upstream: 'early' }]),
      ],
    })
    const tls = by.tls ? certificates : undefined
    const client = await openByteClient(postern.publicPort, { tls })
    return { postern, client }
  }
  /** In one piece, or so that Node's parser has the connection from the first byte. */
  async function send(client: ByteClient, bytes: string): Promise<void> {
    client.send(by.node ? bytes.slice(0, 1) : bytes)
    if (!by.node) return
    await pause(50)
    client.send(bytes.slice(1))
  }

  test('with hundreds of requests ahead has each answered, in order', async () => {
    const { postern, client } = await start()
    echo(postern)
    const count = 400
    const all = Array.from({ length: count }, (_, at) => (at % 7 === 3 ? post(`p${at}`) : get(at)))

    await send(client, all.join(''))
    const answers = await client.answers(count)

    const bodies = Array.from({ length: count }, (_, at) => (at % 7 === 3 ? `p${at}` : String(at)))
    expect(answers.map(({ body }) => body)).toEqual(bodies)
    expect(client.closed()).toBe(false)
  })

  test('is not read further while many requests wait', async () => {
    const { postern, client } = await start()
    let answer = () => {}
    postern.upstream.answerWith((socket) => {
      answer = () => socket.write(ok)
    })
    await send(client, get())
    await until(() => postern.upstream.requests.length === 1)

    const behind = get('behind').repeat(100)
    for (let at = 0; at < 500; at++) client.send(behind)
    await pause(300)

    expect(client.closed()).toBe(false)
    // What the system holds for both ends is some megabytes at most.
    expect(client.socket.writableLength).toBeGreaterThan(behind.length)
    expect(postern.upstream.requests).toHaveLength(1)
    echo(postern)
    answer()
    await client.answers(50)
    expect(client.closed()).toBe(false)
  })

  test('with garbage behind a request has its answer first', async () => {
    const { postern, client } = await start()
    echo(postern)

    await send(client, `${get('good')}\0\0garbage\r\n\r\n${get('never')}`)
    await until(client.closed)

    const answers = await client.answers(2)
    expect(answers.map(({ status }) => status)).toEqual([200, 400])
    expect(answers[0]?.body).toBe('good')
    expect(postern.upstream.requests).toHaveLength(1)
  })

  test('whose upload goes on after the answer is closed soon', async () => {
    const { postern, client } = await start(await startEarly())
    await send(client, upload() + chunk)
    expect(await client.answers(1)).toHaveLength(1)

    let sent = 0
    await until(() => {
      if (client.socket.writableLength > 0) return client.closed()
      client.send(chunk)
      sent += chunk.length
      return client.closed()
    })

    // Little more than is read, and what the system holds for both ends.
    expect(sent).toBeLessThan(20_000_000)
    const { opsPort } = postern
    expect(await metricOf(opsPort, 'postern_connections_closed_total{reason="unread-body"}')).toBe(
      1,
    )
  })

  test('whose upload is refused has the answer, though it goes on sending', async () => {
    const { client } = await start()

    await send(client, upload([]) + chunk)
    const [answer] = await client.answers(1)
    client.send(chunk)

    expect(answer?.json()).toMatchObject({ code: 401 })
    await until(client.closed)
  })

  test('whose upload ends soon after an early answer goes on', async () => {
    const { postern, client } = await start(await startEarly())
    echo(postern)
    await send(client, upload() + chunk)
    expect(await client.answers(1)).toHaveLength(1)

    client.send(`5\r\nabcde\r\n0\r\n\r\n${get('next')}`)

    expect((await client.answers(2))[1]?.body).toBe('next')
  })

  test('whose upload ends in one piece with the head of a long one reads all of that', async () => {
    const { postern, client } = await start(await startEarly())
    echo(postern)
    await send(client, upload() + chunk)
    expect(await client.answers(1)).toHaveLength(1)

    // Longer than what would be read of the first one after its response.
    const body = 'b'.repeat(1_500_000)
    const head = request('POST /open', [`Content-Length: ${body.length}`])
    client.send(`0\r\n\r\n${head}b`)
    await pause(50)
    client.send(body.slice(1))

    expect((await client.answers(2))[1]?.body).toHaveLength(body.length)
    expect(client.closed()).toBe(false)
  })
})

describe('heads', () => {
  test('end with an empty line, in whatever pieces they come', () => {
    const text = 'GET / HTTP/1.1\r\nA: b\r\n\r\n\r\rx\n\r\nPOST / HTTP/1.1\r\n\r\r\n\r\nz'
    const whole = endsIn([text])
    expect(whole).toEqual([text.indexOf('\r\n\r\n') + 4, text.length - 1])

    for (let first = 1; first < text.length; first++) {
      for (let second = first + 1; second < text.length; second++) {
        const pieces = [text.slice(0, first), text.slice(first, second), text.slice(second)]
        expect(endsIn(pieces)).toEqual(whole)
      }
    }
  })

  /** Where in all of them an empty line was found to end. */
  function endsIn(pieces: readonly string[]): number[] {
    const ends = new HeadEnds()
    const found: number[] = []
    let before = ''
    for (const piece of pieces) {
      const bytes = Buffer.from(piece)
      for (let at = 0; at < bytes.length; ) {
        at = ends.next(bytes, at)
        const seen = before + piece.slice(0, at)
        if (seen.endsWith('\r\n\r\n')) found.push(seen.length)
      }
      before += piece
    }
    return found
  }
})

describe('kept bytes', () => {
  test('come back in order, however small their pieces were, in few objects', () => {
    const kept = new KeptBytes()
    const text = Array.from({ length: 5000 }, (_, at) => String.fromCharCode(97 + (at % 26))).join(
      '',
    )

    for (const letter of text) kept.push(Buffer.from(letter))

    expect(kept.length).toBe(text.length)
    expect(kept.pieces).toBeLessThanOrEqual(17)
    expect(kept.take().toString()).toBe(text)
    expect(kept.length).toBe(0)
  })
})
