import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openClient } from '../support/open-client.ts'
import { request, sendRaw } from '../support/raw-client.ts'
import { startPostern } from '../support/start-postern.ts'
import { tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'

const asEditor = `Authorization: Bearer ${tokenOf('editor')}`
const expecting = (length: number) =>
  request('POST /api/v1/articles', [asEditor, 'Expect: 100-continue', `Content-Length: ${length}`])

async function startWith(target: string, settings: Readonly<Record<string, unknown>> = {}) {
  return startPostern({ config: { upstreams: { backend: { targets: [target], ...settings } } } })
}

describe('a client that asks before it sends its body', () => {
  test('is told to go on when the upstream can take it', async () => {
    const postern = await startPostern()
    const client = await openClient(postern.publicPort, expecting(5))
    await client.got('HTTP/1.1 100 Continue\r\n\r\n')
    expect(postern.upstream.requests).toEqual([])

    client.socket.write('hello')

    await client.got('{"ok":true}')
    expect(postern.upstream.requests.map(({ body }) => body)).toEqual(['hello'])
    expect(postern.upstream.requests[0]?.values('expect')).toEqual([])
    expect(client.text().split('100 Continue')).toHaveLength(2)
  })

  test('is not told to while every target is failing', async () => {
    const postern = await startWith('http://127.0.0.1:9', { breaker: { failures: 1 } })
    await sendRaw(postern.publicPort, request('GET /api/v1/public/a', [asEditor]))

    const { answers, bytes } = await sendRaw(postern.publicPort, expecting(5))

    expect(answers.map(({ status }) => status)).toEqual([503])
    expect(bytes.toString('latin1')).not.toContain('100 Continue')
  })

  test('is not told to while there is no place in the queue for a connection', async () => {
    const hanging = await startPostern()
    hanging.upstream.answerWith(() => {})
    const postern = await startWith(hanging.upstream.origin, { connections: 1, maxShare: 100 })
    const get = request('GET /api/v1/public/a', [asEditor])
    for (let turn = 0; turn < 2; turn++) await openClient(postern.publicPort, get)
    await until(() => hanging.upstream.requests.length === 1)
    await until(
      async () => (await postern.call('GET /api/v1/public/a', { as: 'editor' })).status === 503,
    )

    const { answers, bytes } = await sendRaw(postern.publicPort, expecting(5))

    expect(answers.map(({ status }) => status)).toEqual([503])
    expect(bytes.toString('latin1')).not.toContain('100 Continue')
  })

  test('is told to go on once, also when it has no body after all', async () => {
    const postern = await startPostern()

    const { answers } = await sendRaw(postern.publicPort, expecting(0))

    expect(answers.map((answer) => answer.json())).toEqual([{ ok: true }])
  })
})

describe('an upload that is answered before it is complete', () => {
  test('has that answer, also when the upstream then closes its side', async () => {
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      socket.on('error', () => {})
      socket.once('data', () => {
        socket.end('HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 3\r\n\r\nbig')
      })
      // What comes is read for a while, as servers do that want their answer to arrive.
      socket.resume()
      setTimeout(() => socket.destroy(), 1000)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const postern = await startWith(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    const head = request('POST /api/v1/articles', [asEditor, 'Content-Length: 20000000'])

    const { answers } = await sendRaw(postern.publicPort, [head, Buffer.alloc(20_000_000)], {
      quietMs: 60_000,
    })

    expect(answers.map(({ status, body }) => [status, body])).toEqual([[413, 'big']])
  })
})
