import { describe, expect, test } from 'vitest'
import { createClient, Problem } from '../../client/src/client.ts'
import { consoleFiles } from '../support/console-policy.ts'
import { testRedis } from '../support/published-policies.ts'
import { startConsole, type TestConsole } from '../support/start-console.ts'

const files = Object.entries(consoleFiles)
  .filter(([name]) => name.startsWith('policies/'))
  .map(([name, text]) => ({ name: name.replace('policies/', ''), text }))

async function start(): Promise<TestConsole> {
  const redis = await testRedis()
  return startConsole({
    isWhole: true,
    config: {
      redis: { url: redis.url },
      policy: { source: 'redis' },
      console: { port: 0, write: true, roles: { reader: ['editor'], publisher: ['admin'] } },
    },
  })
}

const urlOf = ({ port }: TestConsole) => `http://127.0.0.1:${port}/`

async function problemOf(call: Promise<unknown>): Promise<Problem> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(Problem)
  return error as Problem
}

describe('the client of the management API', () => {
  test('logs in, asks, proposes, publishes, and ends a session', async () => {
    const console = await start()
    const postern = createClient({ url: urlOf(console) })
    const password = console.passwords['admin']
    const login = await postern.post('login', { username: 'admin', password })
    expect([login.document.role, login.document.write]).toEqual(['publisher', true])

    const message = 'a first policy'
    const first = await postern.post('policy/propose', { files, message, over: 'live' })
    const { revision } = first.document as { readonly revision: string }
    const wait = { 'allow-lost': true, wait: 0 }
    const pushed = await postern.post('policy/push', { revision, confirm: revision, ...wait })
    expect(pushed.exitCode).toBe(0)

    const who = await postern.get('policy/who', { method: 'GET', path: '/orders' })
    expect(who.document.roles.map(({ roleKey }) => roleKey)).toEqual(['clerk', 'lead'])
    const csv = await postern.text('csv', 'policy/who', { method: 'GET', path: '/orders' })
    expect(csv.split('\n')[0]).toContain('role')
    const history: string[] = []
    for await (const entry of postern.lines('policy/history')) history.push(entry.message)
    expect(history).toEqual([message])

    const other = createClient({ url: urlOf(console) })
    await other.post('login', { username: 'editor', password: console.passwords['editor'] })
    const { sessions } = (await postern.get('session/list', { user: 'editor' })).document
    const ended = await postern.post('session/end', { id: sessions[0]?.id })
    expect(ended.document.ended).toEqual([sessions[0]?.id])
    expect((await problemOf(other.get('session'))).status).toBe(401)

    await postern.post('logout')
    const after = await problemOf(postern.get('session'))
    expect([after.status, after.type]).toEqual([401, 'urn:postern:problem:token-missing'])
  })

  test('throws a problem with its type for a wrong password and a refused change', async () => {
    const console = await start()
    const postern = createClient({ url: urlOf(console) })
    const wrong = await problemOf(postern.post('login', { username: 'admin', password: 'wrong' }))
    expect([wrong.status, wrong.type]).toEqual([400, 'urn:postern:problem:wrong-credentials'])

    const password = console.passwords['editor']
    await postern.post('login', { username: 'editor', password })
    const refused = await problemOf(
      postern.post('user/disable', { name: 'admin', confirm: 'admin' }),
    )
    expect([refused.status, refused.type]).toEqual([403, 'urn:postern:problem:not-permitted'])
    const unknown = await problemOf(postern.get('user/show', { name: 'nobody' }))
    expect([unknown.status, unknown.type, unknown.message]).toEqual([
      ...[200, 'about:blank'],
      expect.stringContaining('nobody'),
    ])
    const incomplete = await problemOf(postern.get('policy/who', { method: 'GET', path: '' }))
    expect([incomplete.status, incomplete.message]).toEqual([
      ...[400, expect.stringContaining('path is missing')],
    ])
  })

  test('sends a token instead of a session, and follows no redirect', async () => {
    const asked: RequestInit[] = []
    const postern = createClient({
      url: 'http://console.test',
      token: 'a.b.c',
      fetch: async (_, init = {}) => {
        asked.push(init)
        return Response.json({ version: '1' })
      },
    })
    await postern.get('version')

    expect(asked).toEqual([
      expect.objectContaining({ headers: { Authorization: 'Bearer a.b.c' }, redirect: 'error' }),
    ])
  })
})
