import { describe, expect, test } from 'vitest'
import { type Call, calls, isPost, pathOf } from '../../src/operations/offered/offered.ts'
import { startConsole, type TestConsole } from '../support/start-console.ts'

const roles = { reader: ['editor'], author: [], publisher: ['admin'] }

const changes = calls.filter(({ kind }) => kind === 'change')

function lineOf(call: Call): string {
  return `${isPost(call) ? 'POST' : 'GET'} ${pathOf(call)}`
}

/** The accounts, as the command lists them: what no attack may change. */
async function accounts(target: TestConsole): Promise<string> {
  return (await target.postern('user list --output json')).out
}

describe('an operation of the management API', () => {
  test('that changes something does not exist without console.write', async () => {
    const target = await startConsole({ isWhole: true })
    const cookie = await target.logIn()

    for (const call of calls.filter(({ operation: { kind } }) => kind === 'change')) {
      const line = lineOf(call)
      const { status } = await target.call(line, { cookie, body: {} })
      // A question or draft of the same name remains, and does not accept this body.
      const others = calls.filter(({ operation: { kind } }) => kind === 'question')
      const isOther = others.some((each) => lineOf(each) === line)
      expect([line, status]).toEqual([line, isOther ? 400 : 404])
    }
  })

  test('that changes something needs a recent password', async () => {
    let seconds = Date.now() / 1000
    const target = await startConsole({
      ...{ isWhole: true, now: () => seconds },
      config: { console: { port: 0, write: true, roles } },
    })
    const cookie = await target.logIn()
    seconds += 301

    for (const call of changes) {
      const line = lineOf(call)
      const answer = await target.call(line, { cookie, body: {} })
      expect([line, answer.status]).toEqual([line, 403])
      expect(answer.body).toContain('confirmation-needed')
    }
  })

  test('accepts nothing but what its table names, and no value becomes an option', async () => {
    const target = await startConsole({
      isWhole: true,
      config: { console: { port: 0, write: true, roles } },
    })
    const cookie = await target.logIn()
    const before = await accounts(target)
    const bodies: readonly unknown[] = [
      { name: 'editor', confirm: 'editor', role: 'admin', force: true },
      { name: 'editor', confirm: 'editor', role: 'admin', config: '/tmp/other.yaml' },
      { name: ['editor'], confirm: ['editor'], role: 'admin' },
      { name: { $ne: '' }, confirm: { $ne: '' }, role: 'admin' },
      { name: 'editor\0', confirm: 'editor\0', role: 'admin' },
      { name: 'editor\r\nSet-Cookie: a=b', confirm: 'editor\r\nSet-Cookie: a=b', role: 'admin' },
      { name: 'v'.repeat(5000), confirm: 'v'.repeat(5000), role: 'admin' },
      { name: 'editor', confirm: 'Editor', role: 'admin' },
      { name: 'editor', role: 'admin' },
      ['editor', 'admin'],
      'editor',
      null,
      { __proto__: null, name: 'editor', confirm: 'editor', role: 'admin', constructor: 1 },
    ]

    for (const body of bodies) {
      const { status } = await target.call('POST user/role', { cookie, body: JSON.stringify(body) })
      expect([JSON.stringify(body).slice(0, 100), status]).toEqual([
        JSON.stringify(body).slice(0, 100),
        400,
      ])
    }
    const link = 'POST user/role?name=editor&confirm=editor&role=admin'
    expect((await target.call(link, { cookie })).status).toBe(400)
    for (const name of ['--force', '--config=/dev/null', '-h', '--help', '--', '../editor']) {
      const body = { name, confirm: name, role: 'admin' }
      const { status, body: text } = await target.call('POST user/role', { cookie, body })
      expect([name, status, text.includes('Usage')]).toEqual([name, 200, false])
      expect(JSON.parse(text)).toMatchObject({ ok: false })
    }
    expect(await accounts(target)).toBe(before)
  })

  test('writes no file of a draft outside of its directory', async () => {
    const target = await startConsole({
      isWhole: true,
      config: { console: { port: 0, write: true, roles } },
    })
    const cookie = await target.logIn()
    const names = [
      '../x.csv',
      '/tmp/x.csv',
      'a/b.csv',
      '.hidden.csv',
      'tests/../x.csv',
      'x.csv\0',
      'x.sh',
      '',
    ]

    for (const name of names) {
      const body = { files: [{ name, text: '' }] }
      const { status, body: text } = await target.call('POST policy/check', { cookie, body })
      expect([name, status]).toEqual([name, 400])
      expect(text).toContain('is not the name of a policy file')
    }
    const more = { files: [{ name: 'a.csv', text: '', mode: 511 }] }
    expect((await target.call('POST policy/check', { cookie, body: more })).status).toBe(400)
  })
})
