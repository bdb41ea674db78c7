import { describe, expect, test } from 'vitest'
import { startConsole } from '../support/start-console.ts'
import { until } from '../support/until.ts'

describe('a console session', () => {
  test('is listed beside those of gateways, and ends by command, by logout and with its account', async () => {
    const console = await startConsole({ ownDatabase: true })
    const state = async (cookie: string) => (await console.call('GET session', { cookie })).status
    const ended = (cookie: string) => until(async () => (await state(cookie)) === 401)

    const first = await console.logIn('editor')
    let listed: readonly { id: string; via: string; username: string }[] = []
    await until(async () => {
      const { out } = await console.postern('session list --output json')
      listed = JSON.parse(out).sessions
      return listed.length === 1
    })
    expect(listed).toMatchObject([{ via: 'console', username: 'editor' }])
    await console.postern(`session end ${listed[0]?.id}`)
    await ended(first)

    const second = await console.logIn('editor')
    const out = await console.call('POST logout', { cookie: second })
    expect([out.status, out.header('set-cookie')]).toEqual([
      ...[200, expect.stringContaining('postern-console=; Max-Age=0; Path=/')],
    ])
    expect(await state(second)).toBe(401)

    for (const command of [
      'token revoke --user editor',
      'user role editor viewer',
      'user disable editor',
      'user passwd editor',
    ]) {
      const cookie = await console.logIn('editor')
      expect(await state(cookie)).toBe(200)
      expect([command, await console.postern(command)]).toMatchObject([command, { code: 0 }])
      await ended(cookie)
      if (command.startsWith('user role')) await console.postern('user role editor editor')
      if (command.startsWith('user disable')) await console.postern('user enable editor')
    }
  })

  test('is for roles of console.roles only, and the login log says where each attempt was made', async () => {
    const console = await startConsole({
      ownDatabase: true,
      config: { console: { port: 0, roles: { publisher: ['admin'] } } },
    })
    const body = (password = 'wrong') => ({ body: { username: 'editor', password } })
    const denied = await console.call('POST login', body(console.passwords['editor']))
    expect([denied.status, denied.header('set-cookie')]).toEqual([403, undefined])
    expect((await console.call('POST login', body())).status).toBe(400)
    await console.call('POST logout', { cookie: await console.logIn() })

    let rows: readonly Readonly<Record<string, string>>[] = []
    await until(async () => {
      rows = JSON.parse((await console.postern('login list --output json')).out).attempts
      return rows.length === 4
    })
    expect(rows.map(({ outcome, via }) => `${outcome} ${via}`).toReversed()).toEqual([
      ...['not-permitted console', 'wrong-credentials console'],
      ...['logged-in console', 'logged-out console'],
    ])
    const { out } = await console.postern('login list --outcome wrong-credentials')
    expect(out).toContain('wrong-credentials (console)')
  })

  test('counts wrong passwords as a login does', async () => {
    const console = await startConsole({
      ownDatabase: true,
      config: { login: { failuresPerPair: 2, failuresPerAccount: 2 } },
    })
    const cookie = await console.logIn()
    const statuses: number[] = []
    for (let attempt = 0; attempt < 4; attempt++) {
      const body = { password: 'wrong' }
      const answer = await console.call('POST session/confirm', { cookie, body })
      statuses.push(answer.status)
    }
    expect(statuses).toEqual([400, 400, 429, 429])
    const again = await console.call('POST login', {
      body: { username: 'admin', password: console.passwords['admin'] },
    })
    expect([again.status, Number(again.header('retry-after')) > 0]).toEqual([429, true])
  })
})
