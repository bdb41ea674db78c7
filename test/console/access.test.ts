import { describe, expect, test } from 'vitest'
import { cookieIn, startConsole } from '../support/start-console.ts'
import { startPostern } from '../support/start-postern.ts'
import { testSecret, tokenOf } from '../support/tokens.ts'

const roles = ['reader', 'author', 'publisher'] as const

describe('the management API', () => {
  test('refuses every call without a session, with a gateway token, or with a lower role', async () => {
    const console = await startConsole()
    const token = tokenOf('admin', { identity: 1 })
    const editor = await console.logIn('editor')
    const admin = await console.logIn('admin')
    const strangers = [
      {},
      { cookie: `postern-console=${token}` },
      { cookie: `jwt=${token}` },
      { headers: [`Authorization: Bearer ${token}`] },
      { cookie: 'postern-console=' },
      { cookie: 'postern-console=null' },
      { cookie: `__Host-${admin}` },
      // Two of one name: the second may be of a sibling host.
      { cookie: `${admin}; ${editor}` },
    ]

    for (const stranger of strangers) {
      for (const line of ['GET session', 'GET probe/reader', 'POST logout', 'POST probe/write']) {
        expect([line, stranger, (await console.call(line, stranger)).status]).toEqual([
          ...[line, stranger, 401],
        ])
      }
    }
    for (const role of roles) {
      const statuses = [editor, admin].map(async (cookie) => {
        return (await console.call(`GET probe/${role}`, { cookie })).status
      })
      expect([role, await Promise.all(statuses)]).toEqual([
        role,
        [role === 'reader' ? 200 : 403, 200],
      ])
    }
  })

  test('refuses a session that was tampered with, has expired, or was sealed with another key', async () => {
    let time = Date.now() / 1000
    const console = await startConsole({ now: () => time })
    const other = await startConsole({ config: { jwt: { secret: `another-${testSecret}` } } })
    const cookie = await console.logIn()
    expect((await console.call('GET session', { cookie })).status).toBe(200)

    const [name = '', text = ''] = cookie.split('=')
    const parts = text.split('.')
    for (const at of parts.keys()) {
      const part = parts[at] ?? ''
      const flipped = part.startsWith('A') ? `B${part.slice(1)}` : `A${part.slice(1)}`
      const changed = parts.with(at, part === '' ? 'AAAA' : flipped).join('.')
      expect((await console.call('GET session', { cookie: `${name}=${changed}` })).status).toBe(401)
    }
    expect((await console.call('GET session', { cookie: await other.logIn() })).status).toBe(401)
    time += 28_801
    const expired = await console.call('GET session', { cookie })
    expect([expired.status, expired.body]).toEqual([401, expect.stringContaining('token-expired')])
  })

  test('does not accept its session at the gateway, in any carrier', async () => {
    const postern = await startPostern({ config: { application: { mode: 'dev' } } })
    const console = await startConsole()
    const cookie = await console.logIn()
    const text = cookie.slice(cookie.indexOf('=') + 1)

    for (const headers of [[`Authorization: Bearer ${text}`], [`Cookie: jwt=${text}; ${cookie}`]]) {
      const answer = await postern.call('GET /api/v1/articles/1', { headers })
      expect([answer.status, answer.json()]).toMatchObject([200, { code: 401 }])
    }
    expect(postern.upstream.requests).toEqual([])

    // Browsers send cookies to every port of a host, and a service must not get this one.
    const both = `a=1; ${cookie}; __Host-${cookie}; b=2`
    await postern.call('GET /api/v1/articles/1', { as: 'editor', headers: [`Cookie: ${both}`] })
    expect(postern.upstream.requests[0]?.headers).toContainEqual(['Cookie', 'a=1; b=2'])
  })
})

describe('a console session', () => {
  test('tells who it is, what it may do and until when', async () => {
    const console = await startConsole()
    const login = await console.call('POST login', {
      body: { username: 'admin', password: console.passwords['admin'] },
    })

    expect(login.header('set-cookie')).toMatch(
      /^postern-console=[\w.-]+; Max-Age=28800; Path=\/; HttpOnly; SameSite=Strict$/,
    )
    expect(login.json()).toMatchObject({
      ...{ username: 'admin', roleKey: 'admin', role: 'publisher', write: false, mode: 'dev' },
      ...{ id: expect.stringMatching(/^console-[0-9a-f-]{36}$/), confirmBy: 'password' },
      expiresAt: expect.stringMatching(/^\d{4}-/),
      confirmedUntil: expect.stringMatching(/^\d{4}-/),
    })
    expect((await console.call('GET session', { cookie: cookieIn(login) })).json()).toEqual(
      login.json(),
    )
  })
})

describe('a change', () => {
  test('needs a password entered within five minutes, of the owner of the session', async () => {
    let time = Date.now() / 1000
    const console = await startConsole({ now: () => time })
    const cookie = await console.logIn()
    const write = async (with_: string) => {
      const answer = await console.call('POST probe/write', { cookie: with_ })
      return [answer.status, answer.body]
    }
    expect(await write(cookie)).toEqual([200, 'admin'])

    time += 301
    expect(await write(cookie)).toEqual([403, expect.stringContaining('confirmation-needed')])
    const confirm = (body: object) => console.call('POST session/confirm', { cookie, body })
    const others = { username: 'editor', password: console.passwords['editor'] }
    for (const body of [{}, { password: 'wrong' }, others, { password: ['x'] }]) {
      const refused = await confirm(body)
      expect([body, refused.status, refused.header('set-cookie')]).toEqual([body, 400, undefined])
    }
    const confirmed = await confirm({ password: console.passwords['admin'] })
    expect([confirmed.status, await write(cookieIn(confirmed))]).toEqual([200, [200, 'admin']])
    // The old cookie of the same session is as stale as before.
    expect((await write(cookie))[0]).toBe(403)

    time += 301
    expect((await write(cookieIn(confirmed)))[0]).toBe(403)
  })
})
