import { expect, onTestFinished, test } from 'vitest'
import type { OpsParts } from '../../src/http/ops-endpoints.ts'
import { closeOpsServer, createOpsServer } from '../../src/http/ops-server.ts'
import { listen } from '../../src/http/port/listen.ts'
import { request, sendRaw } from '../support/raw-client.ts'

async function start(parts: Partial<OpsParts> = {}) {
  const server = createOpsServer({
    ...{ version: '1.2.3', mode: 'prod', publicKeys: () => [{ kid: 'a' }], replicas: () => [] },
    upstreams: () => [],
    readiness: (verbose) => ({ ready: true, revision: 'r-1', problems: [], verbose }),
    metrics: { contentType: 'text/plain; version=0.0.4', text: async () => 'up 1\n' },
    ...parts,
  })
  const port = await listen(server, { host: '127.0.0.1', port: 0 })
  onTestFinished(() => closeOpsServer(server))
  return { server, port }
}

async function ask(port: number, line: string) {
  const bodiless = line.startsWith('HEAD ')
  const { answers } = await sendRaw(port, request(line, []), { bodiless })
  const [answer] = answers
  if (answer === undefined) throw new Error(`no answer to ${line}`)
  return answer
}

test('the ops port responds to HEAD as to GET, without the body', async () => {
  const { port } = await start()

  const [whole, head] = [await ask(port, 'GET /metrics'), await ask(port, 'HEAD /metrics')]

  expect(whole).toMatchObject({ status: 200, body: 'up 1\n' })
  expect(head).toMatchObject({ status: 200, body: '' })
  for (const { header } of [whole, head]) {
    expect(header('content-type')).toBe('text/plain; version=0.0.4')
    expect(header('content-length')).toBe('5')
  }
})

test('the ops port reads the query of a probe, whatever else it has', async () => {
  const { port } = await start()

  expect((await ask(port, 'GET /readyz?x=1&verbose')).json()).toMatchObject({ verbose: true })
  expect((await ask(port, 'GET /readyz?')).json()).toMatchObject({ verbose: false })
  expect((await ask(port, 'GET /readyz?upstream=a%2Db&upstream=c')).json()).toMatchObject({
    ready: false,
    problems: [{ problem: 'a-b is not defined' }, { problem: 'c is not defined' }],
  })
})

test('the ops port lets clients cache the keys, and no other response', async () => {
  const { port } = await start()

  const keys = await ask(port, 'GET /.well-known/jwks.json')
  expect(keys.json()).toEqual({ keys: [{ kid: 'a' }] })
  expect(keys.header('cache-control')).toBe('public, max-age=60')
  expect((await ask(port, 'GET /version')).header('cache-control')).toBeUndefined()
})

test.each(['/healthz/', '/Healthz', '//healthz', '/%68ealthz', '/healthz;x'])(
  'the ops port has no other spelling of a path: %s',
  async (path) => {
    const { port } = await start()

    const answer = await ask(port, `GET ${path}`)

    expect(answer).toMatchObject({ status: 404 })
    expect(answer.json()).toEqual({ code: 404, msg: 'not found' })
  },
)

test('the ops port says what went wrong when a part cannot be read', async () => {
  const { port } = await start({
    metrics: {
      contentType: 'text/plain',
      text: () => Promise.reject(new Error('worker 2 is gone')),
    },
  })

  const answer = await ask(port, 'GET /metrics')

  expect(answer.status).toBe(500)
  expect(answer.json()).toEqual({ code: 500, msg: 'worker 2 is gone' })
})

test('the ops port closes while a client keeps its connection and another one still waits', async () => {
  const { server, port } = await start({ replicas: () => new Promise(() => {}) })
  await fetch(`http://127.0.0.1:${port}/healthz`)
  const asked = new Promise((seen) => server.once('request', seen))
  const waiting = fetch(`http://127.0.0.1:${port}/replicas`).catch((error: unknown) => error)
  await asked

  await closeOpsServer(server)

  expect(await waiting).toBeInstanceOf(Error)
})
