import { describe, expect, test } from 'vitest'
import { startConsole, type TestConsole } from '../support/start-console.ts'

/** `secops` publishes without being an administrator. */
const roles = { reader: ['viewer'], author: ['editor'], publisher: ['admin', 'secops'] }

async function startWithPublisher() {
  const target = await startConsole({
    ...{ ownDatabase: true, isWhole: true },
    config: { console: { port: 0, write: true, roles } },
  })
  for (const line of [
    'role add secops --name Security --data-scope self',
    'user add ops --role secops',
    'user add peer --role secops',
    'user add Root --role admin',
  ]) {
    expect([line, (await target.postern(line)).code]).toEqual([line, 0])
  }
  const { out } = await target.postern('user passwd ops')
  const cookieOf = async (username: string, password: string) => {
    const answer = await target.call('POST login', { body: { username, password } })
    expect([username, answer.status]).toEqual([username, 200])
    return answer.header('set-cookie')?.split(';', 1)[0] ?? ''
  }
  return { target, publisher: await cookieOf('ops', out.trim()) }
}

/** The accounts with their roles and states. */
async function accountsOf(target: TestConsole): Promise<string> {
  return (await target.postern('user list --output json')).out
}

describe('a publisher who is not an administrator', () => {
  test('changes no administrator and no publisher, and gives neither role', async () => {
    const { target, publisher: cookie } = await startWithPublisher()
    const before = await accountsOf(target)
    const attempts: [string, Record<string, string>][] = []
    for (const name of ['admin', 'Root', 'peer', 'ops']) {
      const confirm = name
      attempts.push(
        ['user/passwd', { name, confirm }],
        ['user/role', { name, confirm, role: 'viewer' }],
        ['user/disable', { name, confirm }],
        ['user/enable', { name }],
        ['user/delete', { name, confirm }],
        ['login/unlock', { user: name }],
        // Lock-outs count spellings of a name together.
        ['login/unlock', { user: name.toUpperCase() }],
      )
    }
    for (const role of ['admin', 'secops']) {
      attempts.push(
        ['user/role', { name: 'viewer', confirm: 'viewer', role }],
        ['user/role', { name: 'ops', confirm: 'ops', role }],
        ['user/add', { name: `new-${role}`, role }],
      )
    }

    for (const [operation, body] of attempts) {
      const { status, body: text } = await target.call(`POST ${operation}`, { cookie, body })
      expect([operation, body, status, text]).toEqual([
        ...[operation, body, 200, expect.stringContaining('only an account with role admin')],
      ])
      expect(JSON.parse(text)).toMatchObject({ ok: false })
    }
    expect(await accountsOf(target)).toBe(before)
    // The passwords are the same.
    await target.logIn('admin')
    expect(target.logText()).not.toContain('console command failed')
  })

  test('changes everyone else, and an administrator changes all of them', async () => {
    const { target, publisher } = await startWithPublisher()
    const admin = await target.logIn('admin')
    const done = async (cookie: string, operation: string, body: Record<string, string>) => {
      const answer = await target.call(`POST ${operation}`, { cookie, body })
      return [answer.status, answer.header('postern-exit-code')]
    }
    const editor = { name: 'editor', confirm: 'editor' }

    expect(await done(publisher, 'user/add', { name: 'new', role: 'editor' })).toEqual([200, '0'])
    expect(await done(publisher, 'user/role', { ...editor, role: 'viewer' })).toEqual([200, '0'])
    expect(await done(publisher, 'user/passwd', editor)).toEqual([200, '0'])
    expect(await done(publisher, 'user/disable', editor)).toEqual([200, '0'])
    expect(await done(publisher, 'user/enable', { name: 'editor' })).toEqual([200, '0'])
    expect(await done(publisher, 'user/delete', editor)).toEqual([200, '0'])

    const peer = { name: 'peer', confirm: 'peer' }
    expect(await done(admin, 'user/role', { ...peer, role: 'admin' })).toEqual([200, '0'])
    expect(await done(admin, 'user/passwd', { name: 'Root', confirm: 'Root' })).toEqual([200, '0'])
    expect(await done(admin, 'user/disable', peer)).toEqual([200, '0'])
    const added = await done(admin, 'user/add', { name: 'chief', role: 'secops' })
    expect(added).toEqual([200, '0'])
  })

  test.each(['reader', 'author'])('or is a %s changes no account', async (role) => {
    const lower = { publisher: ['admin'], [role]: ['editor'] }
    const target = await startConsole({
      isWhole: true,
      config: { console: { port: 0, write: true, roles: lower } },
    })
    const username = 'editor'
    const cookie = await target.logIn(username)
    const before = await accountsOf(target)
    for (const operation of ['passwd', 'role', 'disable', 'enable', 'delete', 'add']) {
      const body = { name: username, confirm: username, role: 'admin' }
      const { status } = await target.call(`POST user/${operation}`, { cookie, body })
      expect([operation, status]).toEqual([operation, 403])
    }
    expect(await accountsOf(target)).toBe(before)
  })
})
