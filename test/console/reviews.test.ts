import { describe, expect, test } from 'vitest'
import { startConsole } from '../support/start-console.ts'

const roles = { reader: ['editor'], author: [], publisher: ['admin'] }

describe('the review of a change', () => {
  test('says what the change would do, and changes nothing', async () => {
    const target = await startConsole({
      ...{ isWhole: true, ownDatabase: true },
      config: { console: { port: 0, write: true, roles } },
    })
    const cookie = await target.logIn()
    const before = (await target.postern('user list --output json')).out

    const { status, body } = await target.call('GET user/delete?name=editor', { cookie })
    const none = await target.call('GET user/delete?name=nobody', { cookie })
    const confirmed = await target.call('GET user/delete?name=editor&confirm=editor', { cookie })

    expect([status, JSON.parse(body)]).toEqual([
      200,
      [{ userId: expect.any(String), roleKey: 'editor' }],
    ])
    expect([none.status, JSON.parse(none.body).ok]).toEqual([200, false])
    expect([confirmed.status, confirmed.body]).toEqual([
      400,
      expect.stringContaining('unknown parameter \\"confirm\\"'),
    ])
    expect((await target.postern('user list --output json')).out).toBe(before)
  })

  test('needs the role that the change needs, and console.write', async () => {
    const config = { console: { port: 0, write: true, roles } }
    const target = await startConsole({ isWhole: true, config })
    const reader = await target.logIn('editor')
    const forReader = await target.call('GET user/delete?name=admin', { cookie: reader })
    const readOnly = await startConsole({ isWhole: true })
    const cookie = await readOnly.logIn()
    const offered = await readOnly.call('GET user/delete?name=editor', { cookie })

    expect([forReader.status, offered.status]).toEqual([403, 404])
  })
})
