import { describe, expect, test } from 'vitest'
import { expectUnauthenticated } from '../support/outcomes.ts'
import { startPostern } from '../support/start-postern.ts'
import { nowSeconds, tokenOf } from '../support/tokens.ts'

const token = tokenOf('editor')

describe('the identity check', () => {
  test.each([
    ['the Authorization header', '', [`Authorization: Bearer ${token}`]],
    ['the query parameter', `?token=${token}`, []],
    ['the cookie', '', [`Cookie: other=1; jwt=${token}`]],
  ])('takes the token from %s', async (_, query, headers) => {
    const postern = await startPostern()

    const answer = await postern.call(`GET /api/v1/public/a${query}`, { headers })

    expect(answer.json()).toEqual({ ok: true })
    expect(postern.upstream.requests[0]?.values('x-user-id')).toEqual(['42'])
  })

  test.each([undefined, 0])('takes a token whose orig_iat is %s', async (orig_iat) => {
    const postern = await startPostern()

    const answer = await postern.call('GET /api/v1/public/a', {
      token: tokenOf('editor', { orig_iat }),
    })

    expect(answer.json()).toEqual({ ok: true })
  })

  test('answers a missing token with HTTP 200 and code 401', async () => {
    const postern = await startPostern()

    expectUnauthenticated(await postern.call('GET /api/v1/public/a'), postern.upstream)
  })

  test('answers an expired token with HTTP 200 and code 401', async () => {
    const postern = await startPostern()

    const answer = await postern.call('GET /api/v1/public/a', {
      token: tokenOf('editor', { exp: nowSeconds() - 1 }),
    })

    expectUnauthenticated(answer, postern.upstream)
  })

  test('comes before the permission check: a stranger does not learn what exists', async () => {
    const postern = await startPostern()

    const [known, unknown] = await Promise.all([
      postern.call('GET /api/v1/public/a'),
      postern.call('GET /no/such/route'),
    ])

    expect(known.body).toBe(unknown.body)
    expect(postern.upstream.bytes()).toBe(0)
  })

  test('leaves the true outcome behind an HTTP 200 in the log', async () => {
    const postern = await startPostern()

    await postern.call('GET /api/v1/public/a')
    await postern.call('GET /api/v1/public/a', { token: 'x.y.z' })
    await postern.call('GET /api/v1/public/a', { token: tokenOf('editor', { exp: 1 }) })
    await postern.call('GET /api/v1/sys-user', { as: 'editor' })

    const outcomes = [...postern.logText().matchAll(/"outcome":"([^"]+)"/g)].map(
      ([, outcome]) => outcome,
    )
    expect(outcomes).toEqual(['token-missing', 'token-invalid', 'token-expired', 'not-permitted'])
  })
})

describe('what the upstream learns', () => {
  test('is user ID, role ID, role key, username and data scope of the token', async () => {
    const postern = await startPostern()

    await postern.call('GET /api/v1/public/a', { token })

    const [sent] = postern.upstream.requests
    const learned = ['x-user-id', 'x-role-id', 'x-role-key', 'x-user-name', 'x-data-scope'].map(
      (name) => sent?.values(name),
    )
    expect(learned).toEqual([['42'], ['7'], ['editor'], ['editor-user'], ['3']])
  })

  test('comes under the configured names, and those are reserved then', async () => {
    const postern = await startPostern({
      config: { headers: { userId: 'X-Account', roleKey: 'X-Role' } },
    })

    await postern.call('GET /api/v1/public/a', {
      token,
      headers: ['X-Account: 1', 'x_role: admin'],
    })

    const [sent] = postern.upstream.requests
    expect([sent?.values('x-account'), sent?.values('x-role'), sent?.values('x-user-id')]).toEqual([
      ['42'],
      ['editor'],
      [],
    ])
  })
})
