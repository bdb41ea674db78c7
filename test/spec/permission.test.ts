import { describe, expect, test } from 'vitest'
import { expectRejected, expectUnauthenticated } from '../support/outcomes.ts'
import { startPostern } from '../support/start-postern.ts'
import { until } from '../support/until.ts'

describe('a path that no route serves', () => {
  test.each([
    ['with permission', 'admin', 404, 'no-such-route'],
    ['without permission', 'viewer', 200, 'not-permitted'],
  ])(
    'has the answer of the specification %s, and the log line says so',
    async (_, as, status, outcome) => {
      const postern = await startPostern({ routes: [{ path: '/served', upstream: 'backend' }] })

      const answer = await postern.call('GET /nowhere', { as })
      await postern.call('GET /served', { as: 'admin' })

      expect(answer.status).toBe(status)
      await until(() => postern.logText().includes('"path":"/served"'))
      const lines = postern.logText().split('\n')
      const line = lines.find((each) => each.includes('"path":"/nowhere"')) ?? '{}'
      expect(JSON.parse(line)).toMatchObject({ outcome, route: 'none' })
      expect(lines.find((each) => each.includes('"path":"/served"'))).not.toContain('"route"')
    },
  )
})

describe('the permission check', () => {
  test('passes role admin with no check at all (Authentication 5a)', async () => {
    const postern = await startPostern({ rules: [] })

    const answer = await postern.call('DELETE /api/v1/whatever', { as: 'admin' })

    expect(answer.json()).toEqual({ ok: true })
    expect(postern.logText()).toContain('"step":"admin"')
  })

  test.each([
    ['GET /api/v1/articles/7', '/api/v1/articles/7'],
    ['POST /api/v1/articles', '/api/v1/articles'],
    ['GET /api/v1/public/a/b', '/api/v1/public/a/b'],
    ['GET /api/v1/orders/profile', '/api/v1/orders/profile'],
  ])('passes %s when the policy allows role, path and method (5d)', async (line, target) => {
    const postern = await startPostern()

    const answer = await postern.call(line, { as: 'editor' })

    expect(answer.json()).toEqual({ ok: true })
    expect(postern.upstream.requests.map((one) => one.target)).toEqual([target])
  })

  test.each([
    ['another path', 'GET /api/v1/sys-user', 'editor'],
    ['another method', 'DELETE /api/v1/articles/7', 'editor'],
    ['HEAD where GET is allowed', 'HEAD /api/v1/articles/7', 'editor'],
    ['OPTIONS where GET is allowed', 'OPTIONS /api/v1/articles/7', 'editor'],
    ['a role without rules', 'GET /api/v1/articles/7', 'viewer'],
    ['a role in another case', 'GET /api/v1/articles/7', 'Editor'],
    ['a role named like a wildcard', 'GET /api/v1/articles/7', '*'],
  ])('refuses %s, with the unauthorized response', async (_, line, role) => {
    const postern = await startPostern()

    if (line.startsWith('HEAD')) {
      const { sendRaw, request } = await import('../support/raw-client.ts')
      const { tokenOf } = await import('../support/tokens.ts')
      const bytes = request(line, [`Authorization: Bearer ${tokenOf(role)}`])
      const { bytes: answer } = await sendRaw(postern.publicPort, bytes, { quietMs: 200 })
      expect(answer.toString()).toMatch(/^HTTP\/1\.1 200 /)
      expect(postern.upstream.bytes()).toBe(0)
      return
    }
    expectUnauthenticated(await postern.call(line, { as: role }), postern.upstream)
  })

  test('answers a refusal with 403 in the body where that is configured', async () => {
    const postern = await startPostern({ config: { refusals: { notPermittedCode: 403 } } })

    const refused = await postern.call('GET /api/v1/sys-user', { as: 'editor' })
    const anonymous = await postern.call('GET /api/v1/sys-user')

    expect([refused.status, refused.json()]).toEqual([200, { code: 403, msg: expect.any(String) }])
    expect(anonymous.json()).toMatchObject({ code: 401 })
  })
})

describe('the exclusion list', () => {
  const line = 'GET /api/v1/user/profile'

  test('lets any caller with a valid token pass (5b), by path and method', async () => {
    const postern = await startPostern({ rules: [], config: { endpoints: { profile: 'backend' } } })

    expect((await postern.call(line, { as: 'nobody-special' })).json()).toEqual({ ok: true })
    expect(postern.logText()).toContain('"step":"exclusion"')
  })

  test('does not replace the identity check', async () => {
    const postern = await startPostern({ config: { endpoints: { profile: 'backend' } } })

    expectUnauthenticated(await postern.call(line), postern.upstream)
  })

  test('does not cover another method', async () => {
    const postern = await startPostern({ config: { endpoints: { profile: 'backend' } } })

    const answer = await postern.call('PUT /api/v1/user/profile', { as: 'nobody-special' })

    expectUnauthenticated(answer, postern.upstream)
  })
})

describe('a route', () => {
  const routes = [
    { path: '/api/v1', upstream: 'backend' },
    { path: '/api/v1/menu', upstream: 'backend', access: 'authenticated' },
    {
      path: '/static',
      upstream: 'backend',
      access: 'public',
      reason: 'pictures of the login page',
    },
  ]

  test('without the permission check never undergoes it (5c), but asks who calls', async () => {
    const postern = await startPostern({ routes, rules: [] })

    expectUnauthenticated(await postern.call('GET /api/v1/menu/tree'), postern.upstream)
    expect((await postern.call('GET /api/v1/menu/tree', { as: 'viewer' })).json()).toEqual({
      ok: true,
    })
  })

  test('is a prefix on segment borders only', async () => {
    const postern = await startPostern({ routes, rules: [] })

    expectUnauthenticated(
      await postern.call('GET /api/v1/menus', { as: 'viewer' }),
      postern.upstream,
    )
  })

  test('that is public asks neither', async () => {
    const postern = await startPostern({ routes, rules: [] })

    expect((await postern.call('GET /static/logo.png')).json()).toEqual({ ok: true })
    expectNoIdentity(postern.upstream.requests[0]?.headers ?? [])
  })

  test('that does not exist is found out only after both checks', async () => {
    const postern = await startPostern({ routes, rules: ['editor, /other, GET'] })

    expectUnauthenticated(await postern.call('GET /other'), postern.upstream)
    expectUnauthenticated(await postern.call('GET /other', { as: 'viewer' }), postern.upstream)
    expectRejected(await postern.call('GET /other', { as: 'editor' }), 404, postern.upstream)
  })
})

function expectNoIdentity(headers: readonly (readonly [string, string])[]): void {
  const names = headers.map(([name]) => name.toLowerCase())
  expect(names.filter((name) => /^x-(?:user|role|data)/.test(name))).toEqual([])
}
