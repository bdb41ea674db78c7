import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { startPublished } from '../support/published-policies.ts'
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
