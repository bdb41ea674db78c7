import { describe, expect, test } from 'vitest'
import { dev, logIn } from '../support/log-in.ts'
import { expectUnauthenticated } from '../support/outcomes.ts'
import { startPostern } from '../support/start-postern.ts'
import { tokenOf } from '../support/tokens.ts'

describe('POST /api/v1/logout', () => {
  test('ends the token, and no other', async () => {
    const postern = await startPostern({ config: dev })
    const [first, second] = [await logIn(postern), await logIn(postern)]

    const answer = await postern.call('POST /api/v1/logout', { token: first, body: '' })
    const after = await postern.call('GET /api/v1/public/a', { token: first })
    const other = await postern.call('GET /api/v1/public/a', { token: second })

    expect(answer.json()).toMatchObject({ code: 200 })
    expect(after.json()).toMatchObject({ code: 401 })
    expect(other.json()).toEqual({ ok: true })
    expect(postern.logText()).toContain('"outcome":"token-revoked"')
  })

  test('ends a token that has no jti as well', async () => {
    const postern = await startPostern()
    const [one, another] = [tokenOf('editor'), tokenOf('editor', { nice: 'other' })]

    await postern.call('POST /api/v1/logout', { token: one, body: '' })

    expect((await postern.call('GET /api/v1/public/a', { token: one })).json()).toMatchObject({
      code: 401,
    })
    expect((await postern.call('GET /api/v1/public/a', { token: another })).json()).toEqual({
      ok: true,
    })
  })

  test('ends the token also where an upstream answers', async () => {
    const postern = await startPostern({ config: { endpoints: { logout: 'backend' } } })
    const token = tokenOf('viewer')

    const answer = await postern.call('POST /api/v1/logout', { token, body: '' })
    const after = await postern.call('POST /api/v1/logout', { token, body: '' })

    expect(answer.json()).toEqual({ ok: true })
    expect(after.json()).toMatchObject({ code: 401 })
    expect(postern.upstream.requests.map(({ target }) => target)).toEqual(['/api/v1/logout'])
  })

  test.each([
    ['an exclusion', {}],
    ['no exclusion', { exclusions: [] }],
    [
      'no exclusion, and an upstream',
      { exclusions: [], config: { endpoints: { logout: 'backend' } } },
    ],
  ])('needs no permission with %s', async (_, options) => {
    const postern = await startPostern({ rules: [], ...options })

    const answer = await postern.call('POST /api/v1/logout', { as: 'viewer', body: '' })
    const profile = await postern.call('GET /api/v1/user/profile', { as: 'viewer' })

    expect(answer.json()).not.toMatchObject({ code: 401 })
    // The caller of this test has no account, which only an admitted caller is told.
    expect(profile.json()).toMatchObject({ msg: 'please log in again' })
    expect(postern.logText().match(/"step":"exclusion"/g)).toHaveLength(2)
  })

  test('needs a token, and no permission', async () => {
    const postern = await startPostern({ rules: [] })

    expectUnauthenticated(await postern.call('POST /api/v1/logout', { body: '' }), postern.upstream)
    const answer = await postern.call('POST /api/v1/logout', { as: 'viewer', body: '' })
    expect(answer.json()).toMatchObject({ code: 200 })
  })
})

describe('GET /api/v1/user/profile', () => {
  test("shows a caller's own account, without its password", async () => {
    const postern = await startPostern({ config: dev, rules: [] })
    const token = await logIn(postern)

    const answer = await postern.call('GET /api/v1/user/profile', { token })

    const { data } = answer.json() as { data: { user: Record<string, unknown> } }
    expect(data.user).toMatchObject({ username: 'editor' })
    expect(answer.body).not.toMatch(/password|\$2[aby]\$/)
  })

  test('needs a token', async () => {
    const postern = await startPostern()

    expectUnauthenticated(await postern.call('GET /api/v1/user/profile'), postern.upstream)
  })

  test('of an account that is gone is refused like an ended token', async () => {
    const postern = await startPostern()

    const answer = await postern.call('GET /api/v1/user/profile', {
      token: tokenOf('editor', { identity: 999 }),
    })

    expectUnauthenticated(answer, postern.upstream)
  })
})
