import { readFileSync } from 'node:fs'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startPublished } from '../support/published-policies.ts'
import { ok, startRecordingUpstream } from '../support/recording-upstream.ts'
import { startPostern } from '../support/start-postern.ts'

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }

async function ask(opsPort: number, path: string, method = 'GET') {
  const answer = await fetch(`http://127.0.0.1:${opsPort}${path}`, { method })
  return { status: answer.status, body: await answer.json() }
}

describe('the ops port', () => {
  test('says at /healthz that the process answers, also while it is not ready', async () => {
    const { postern } = await startPublished()

    expect(await ask(postern.opsPort, '/healthz')).toEqual({
      status: 200,
      body: { status: 'alive' },
    })
    expect((await ask(postern.opsPort, '/readyz')).status).toBe(503)
  })

  test.each(['prod', 'dev'])('says at /version which Postern it is, in mode %s', async (mode) => {
    const { opsPort } = await startPostern({ config: { application: { mode } } })

    expect(await ask(opsPort, '/version')).toEqual({
      status: 200,
      body: { version, mode, node: process.versions.node },
    })
  })

  test('is not ready without an upstream that the probe names, if its health check fails', async () => {
    const app = await startRecordingUpstream()
    onTestFinished(() => app.close())
    app.answerWith((socket) => socket.end('HTTP/1.1 503 Starting\r\nContent-Length: 0\r\n\r\n'))
    const healthCheck = { path: '/up', intervalMs: 100, unhealthyAfter: 1, healthyAfter: 1 }
    const { opsPort } = await startPostern({
      config: { upstreams: { app: { targets: [app.origin], healthCheck } } },
      routes: [
        { path: '/', upstream: 'backend' },
        { path: '/app', upstream: 'app' },
      ],
    })
    const named = () => ask(opsPort, '/readyz?upstream=app&upstream=backend')

    await expect.poll(named).toMatchObject({
      status: 503,
      body: {
        ready: false,
        problems: [{ name: 'upstream', problem: 'app has no healthy target' }],
      },
    })
    expect((await ask(opsPort, '/readyz')).status).toBe(200)
    expect((await ask(opsPort, '/readyz?upstream=ap')).body).toMatchObject({
      problems: [{ name: 'upstream', problem: 'ap is not defined' }],
    })

    app.answerWith((socket) => socket.end(ok))
    await expect.poll(named).toMatchObject({ status: 200, body: { ready: true, problems: [] } })
  })

  test('has nothing else, and nothing that changes anything', async () => {
    const { opsPort } = await startPostern()
    const others = [
      ['GET', '/'],
      ['GET', '/api/v1/getCaptcha'],
      ['POST', '/readyz'],
      ['POST', '/metrics'],
      ['DELETE', '/healthz'],
      ['PUT', '/version'],
    ] as const

    for (const [method, path] of others) {
      expect((await ask(opsPort, path, method)).status, `${method} ${path}`).toBe(404)
    }
  })

  test.each(['/healthz', '/readyz', '/metrics', '/version', '/.well-known/jwks.json'])(
    'has %s for itself: on the public port it is a path like any other',
    async (path) => {
      const { call, upstream } = await startPostern()

      expect((await call(`GET ${path}`)).json()).toMatchObject({ code: 401 })
      expect(upstream.requests).toEqual([])
    },
  )
})
