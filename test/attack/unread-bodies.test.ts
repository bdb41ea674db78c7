import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startCarelessService } from '../support/careless-service.ts'
import { openClient } from '../support/open-client.ts'
import { request, sendRaw } from '../support/raw-client.ts'
import { startPostern } from '../support/start-postern.ts'
import { tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'

/** A request in a body, with the identity that its sender would like to have. */
const hidden = 'GET /admin HTTP/1.1\r\nHost: service\r\nX-User-Id: 1\r\nX-Role-Key: admin\r\n\r\n'
const asAdmin = `Authorization: Bearer ${tokenOf('admin')}`

function withHidden(method: string) {
  const length = `Content-Length: ${hidden.length}`
  return request(`${method} /api/v1/orders`, [asAdmin, length], hidden)
}

async function startBefore(
  origin: string,
  settings: Readonly<Record<string, unknown>> = {},
  route: Readonly<Record<string, unknown>> = {},
) {
  return startPostern({
    config: { upstreams: { backend: { targets: [origin], ...settings } } },
    routes: [{ path: '/', upstream: 'backend', ...route }],
  })
}

/** One more request: what a service would read after the first, it has read by then. */
async function callOnce(port: number): Promise<number | undefined> {
  const { answers } = await sendRaw(port, request('GET /api/v1/next', [asAdmin]))
  return answers[0]?.status
}

const withoutUse = ['GET', 'HEAD', 'OPTIONS', 'DELETE', 'PROPFIND']

describe('a body that a service does not read', () => {
  test.each(withoutUse)('is not its next request: %s', async (method) => {
    const service = await startCarelessService(true)
    const postern = await startBefore(service.origin)

    await sendRaw(postern.publicPort, withHidden(method), { bodiless: method === 'HEAD' })
    expect(await callOnce(postern.publicPort)).toBe(200)

    expect(service.ran.map(({ line, userId }) => [line, userId])).toEqual([
      [`${method} /api/v1/orders HTTP/1.1`, '42'],
      ['GET /api/v1/next HTTP/1.1', '42'],
    ])
  })

  test('is not its next request when the client asks before it sends the body', async () => {
    const service = await startCarelessService(true)
    const postern = await startBefore(service.origin)
    const client = await openClient(
      postern.publicPort,
      request('DELETE /api/v1/orders', [
        asAdmin,
        'Expect: 100-continue',
        `Content-Length: ${hidden.length}`,
      ]),
    )
    await client.got('100 Continue')
    client.socket.write(hidden)
    await client.got('200 OK')

    expect(await callOnce(postern.publicPort)).toBe(200)
    expect(service.ran.map(({ userId }) => userId)).toEqual(['42', '42'])
  })

  test('is not put before the request of the next caller', async () => {
    const service = await startCarelessService(false)
    const postern = await startBefore(service.origin)
    const begun = 'GET /admin HTTP/1.1\r\nX-User-Id: 1\r\nX-Rest: '
    const length = `Content-Length: ${begun.length}`

    await sendRaw(postern.publicPort, request('GET /api/v1/orders', [asAdmin, length], begun))
    expect(await callOnce(postern.publicPort)).toBe(200)

    expect(service.ran.map(({ line, connection }) => [line, connection])).toEqual([
      ['GET /api/v1/orders HTTP/1.1', 1],
      ['GET /api/v1/next HTTP/1.1', 2],
    ])
  })

  test('is not the next request of a service that gets each on a connection of its own', async () => {
    const service = await startCarelessService(true)
    const postern = await startBefore(service.origin, { keepAlive: false })

    await sendRaw(postern.publicPort, withHidden('POST'))
    expect(await callOnce(postern.publicPort)).toBe(200)

    expect(service.ran.map(({ line, connection }) => [line, connection])).toEqual([
      ['POST /api/v1/orders HTTP/1.1', 1],
      ['GET /api/v1/next HTTP/1.1', 2],
    ])
  })

  test('ends the connection when the service answers before all of it was sent', async () => {
    const service = await startCarelessService(false)
    const postern = await startBefore(service.origin)
    const head = request('POST /api/v1/orders', [asAdmin, 'Content-Length: 200000'])

    const client = await openClient(postern.publicPort, `${head}${'a'.repeat(100_000)}`)
    await client.got('200 OK')
    expect(await callOnce(postern.publicPort)).toBe(200)

    expect(service.ran.map(({ connection }) => connection)).toEqual([1, 2])
  })

  const python = spawnSync('python3', ['--version']).status === 0
  if (!python) console.warn('left out: bodies that http.server does not read; there is no python3')

  test.skipIf(!python).each(withoutUse.slice(0, 4))(
    "is not the next request of Python's http.server: %s",
    async (method) => {
      const service = spawn('python3', ['test/support/careless-service.py'])
      onTestFinished(() => void service.kill())
      const lines: string[] = []
      const reader = createInterface(service.stdout)
      const [port] = await once(reader, 'line')
      reader.on('line', (line) => lines.push(line))
      const postern = await startBefore(`http://127.0.0.1:${port}`)

      await sendRaw(postern.publicPort, withHidden(method), { bodiless: method === 'HEAD' })
      expect(await callOnce(postern.publicPort)).toBe(200)

      await until(() => lines.length >= 2)
      expect(lines).toEqual([`${method} /api/v1/orders 42`, 'GET /api/v1/next 42'])
    },
  )
})

describe('a route that rejects bodies where they have no meaning', () => {
  const start = () =>
    startPostern({ routes: [{ path: '/', upstream: 'backend', unexpectedBody: 'reject' }] })

  test.each(withoutUse.slice(0, 4))(
    'answers 400, and the service hears nothing: %s',
    async (method) => {
      const postern = await start()

      const { answers, closed } = await sendRaw(postern.publicPort, withHidden(method), {
        bodiless: method === 'HEAD',
      })

      expect([answers.map(({ status }) => status), closed]).toEqual([[400], true])
      expect(postern.upstream.bytes()).toBe(0)
      expect(postern.logText()).toContain('"outcome":"unexpected-body"')
    },
  )

  test('takes chunks for a body, too', async () => {
    const postern = await start()
    const chunked = [asAdmin, 'Transfer-Encoding: chunked']

    const { answers } = await sendRaw(
      postern.publicPort,
      request('GET /api/v1/orders', chunked, '1\r\na\r\n0\r\n\r\n'),
    )

    expect(answers.map(({ status }) => status)).toEqual([400])
  })

  test.each([
    ['POST', 'hello'],
    ['GET', ''],
  ])('takes %s with %j', async (method, body) => {
    const postern = await start()

    const answer = await postern.call(`${method} /api/v1/orders`, { as: 'admin', body })

    expect([answer.status, postern.upstream.requests.map((sent) => sent.body)]).toEqual([
      200,
      [body],
    ])
  })

  test('tells a caller without the permission that and nothing else', async () => {
    const postern = await start()

    const answer = await postern.call('GET /api/v1/orders', { as: 'editor', body: hidden })

    expect(answer.json()).toMatchObject({ code: 401 })
  })
})
