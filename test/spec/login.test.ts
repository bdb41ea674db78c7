import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { VerifyPassword } from '../../src/login/method-kind.ts'
import { takeCaptcha } from '../support/captchas.ts'
import { dev, goodLogin, logIn, postLogin } from '../support/log-in.ts'
import { startPostern } from '../support/start-postern.ts'
import { nowSeconds, testSecret } from '../support/tokens.ts'

function claims(token: string): Record<string, unknown> {
  const [header = '', payload = '', signature = ''] = token.split('.')
  const right = createHmac('sha256', testSecret).update(`${header}.${payload}`).digest('base64url')
  expect(signature).toBe(right)
  return JSON.parse(Buffer.from(payload, 'base64url').toString())
}

describe('POST /api/v1/login', () => {
  test('answers with token and expire, in the envelope that clients know', async () => {
    const postern = await startPostern({ config: dev })

    const answer = await postLogin(postern, goodLogin(postern))

    const body = answer.json() as Record<string, unknown>
    expect(answer.status).toBe(200)
    expect(Object.keys(body)).toEqual(['code', 'currentAuthority', 'expire', 'success', 'token'])
    expect(body).toMatchObject({ code: 200, success: true, currentAuthority: body['token'] })
    expect(body['expire']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    expect(postern.upstream.bytes()).toBe(0)
  })

  test('puts user ID, role ID, role key, username and data scope into the token', async () => {
    const postern = await startPostern({ config: dev })

    const payload = claims(await logIn(postern, 'editor'))

    expect(payload).toMatchObject({
      rolekey: 'editor',
      nice: 'editor',
      datascope: expect.any(String),
    })
    expect([typeof payload['identity'], typeof payload['roleid']]).toEqual(['number', 'number'])
    expect(payload['jti']).toMatch(/^[0-9a-f-]{36}$/)
  })

  test('issues a token that passes the identity check, with the identity of the account', async () => {
    const postern = await startPostern({ config: dev })
    const token = await logIn(postern, 'editor')

    const answer = await postern.call('GET /api/v1/public/a', { token })

    expect(answer.json()).toEqual({ ok: true })
    expect(postern.upstream.requests[0]?.values('x-role-key')).toEqual(['editor'])
  })

  test('expires when expire says, jwt.timeout seconds from now', async () => {
    const postern = await startPostern({
      config: { jwt: { timeout: 120 }, login: { perAddressPerMinute: 1000 } },
      verifyPassword: async () => ({
        userId: '5',
        roleId: '2',
        roleKey: 'editor',
        roleName: '',
        username: 'sam',
        dataScope: '',
      }),
    })

    const before = nowSeconds()
    const answer = await postLogin(postern, {
      username: 'sam',
      password: 'p',
      ...(await takeCaptcha(postern)),
    })

    const { token, expire } = answer.json() as { token: string; expire: string }
    const { exp, orig_iat: issued } = claims(token) as { exp: number; orig_iat: number }
    expect(exp - issued).toBe(120)
    expect(issued).toBeGreaterThanOrEqual(before)
    expect(new Date(expire).getTime()).toBe(exp * 1000)
  })
})

describe('step 1, bind and validate', () => {
  const good = { username: 'editor', password: 'x', uuid: 'u', code: 'c' }

  test.each<[string, string | Record<string, unknown>]>([
    ['no body', ''],
    ['no JSON', '{'],
    ['a list', '[]'],
    ['null', 'null'],
    ['deep nesting', '['.repeat(5000)],
    ['no username', { ...good, username: undefined }],
    ['an empty password', { ...good, password: '' }],
    ['no uuid', { ...good, uuid: undefined }],
    ['no code', { ...good, code: undefined }],
    ['a number', { ...good, username: 1 }],
    ['a list of names', { ...good, username: ['editor'] }],
    ['an object as name', { ...good, username: { $ne: '' } }],
    ['null as password', { ...good, password: null }],
    ['NUL in the password', { ...good, password: 'a\0b' }],
    ['a username too long', { ...good, username: 'a'.repeat(129) }],
    ['a password over 72 bytes', { ...good, password: 'ä'.repeat(37) }],
    ['a compressed body', '\x1f\x8b\x08\0\0\0\0\0'],
    ['the fields under __proto__', `{"__proto__":${JSON.stringify(good)}}`],
  ])('refuses %s with code 400', async (_, fields) => {
    const postern = await startPostern({ config: dev })

    const answer = await postLogin(postern, fields)

    expect([answer.status, answer.json()]).toEqual([200, { code: 400, msg: expect.any(String) }])
  })

  test.each([
    ['text/plain', 'Content-Type: text/plain'],
    ['a form', 'Content-Type: application/x-www-form-urlencoded'],
    ['a tab in the type', 'Content-Type: application/json\ta'],
    ['an empty parameter', 'Content-Type: application/json;'],
    ['a type that only starts so', 'Content-Type: application/jsonp'],
    ['no type', 'X-None: 1'],
  ])('takes JSON only: %s', async (_, type) => {
    const postern = await startPostern({ config: dev })

    const answer = await postLogin(postern, goodLogin(postern), [type])

    expect([answer.status, answer.json()]).toEqual([200, { code: 400, msg: expect.any(String) }])
  })

  test('refuses a body of 2 MiB without reading it to the end', async () => {
    const postern = await startPostern({ config: dev })

    const answer = await postLogin(
      postern,
      JSON.stringify({ ...good, extra: 'a'.repeat(2_097_152) }),
    )

    expect(answer.json()).toMatchObject({ code: 400 })
    expect(answer.header('connection')).toBe('close')
  })

  test('ignores fields that would raise a role', async () => {
    const postern = await startPostern({ config: dev })

    const answer = await postLogin(postern, {
      ...goodLogin(postern),
      rolekey: 'admin',
      role: 'admin',
      isAdmin: true,
    })

    expect(claims((answer.json() as { token: string }).token)).toMatchObject({ rolekey: 'editor' })
  })

  test('takes the last of two fields with one name, and gives no more for it', async () => {
    const postern = await startPostern({ config: dev })
    const { password } = goodLogin(postern)

    const answer = await postLogin(
      postern,
      `{"username":"admin","username":"editor","password":${JSON.stringify(password)},"uuid":"-","code":"-"}`,
    )

    expect(claims((answer.json() as { token: string }).token)).toMatchObject({ rolekey: 'editor' })
  })

  test('comes before the captcha: a malformed login does not use one up', async () => {
    const postern = await startPostern()
    const captcha = await takeCaptcha(postern)

    await postLogin(postern, { ...goodLogin(postern), ...captcha, password: '' })
    const answer = await postLogin(postern, { ...goodLogin(postern), ...captcha })

    expect(answer.json()).toMatchObject({ code: 200 })
  })

  test.each(['GET', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'])(
    'is not offered with %s, nor by an upstream',
    async (method) => {
      const postern = await startPostern()

      const answer = await postern.call(`${method} /api/v1/login`, { as: 'admin', body: '' })

      expect(answer.status).toBe(405)
      expect(answer.header('allow')).toBe('POST')
      expect(postern.upstream.bytes()).toBe(0)
    },
  )
})

describe('step 3, username and password', () => {
  test.each([
    ['a wrong password', 'editor', 'wrong-password'],
    ['an unknown name', 'nobody', 'wrong-password'],
    ['the name in another case', 'Editor', undefined],
  ])('refuses %s with code 400 and one message', async (_, username, password) => {
    const postern = await startPostern({ config: dev })

    const answer = await postLogin(postern, {
      username,
      password: password ?? postern.passwords['editor'],
      uuid: '-',
      code: '-',
    })
    const other = await postLogin(postern, {
      username: 'editor',
      password: 'wrong',
      uuid: '-',
      code: '-',
    })

    expect([answer.status, answer.json()]).toEqual([200, { code: 400, msg: expect.any(String) }])
    expect(answer.body).toBe(other.body)
  })

  test('names its method in the field provider; one that is not configured is refused', async () => {
    const postern = await startPostern({ config: dev })
    const good = goodLogin(postern)

    const named = await postLogin(postern, { ...good, provider: 'password' })
    const unknown = await postLogin(postern, { ...good, provider: 'corp' })
    const noText = await postLogin(postern, { ...good, provider: ['password'] })

    expect(named.json()).toMatchObject({ code: 200, token: expect.any(String) })
    expect(unknown.json()).toEqual({ code: 400, msg: 'no such login provider' })
    expect(noText.json()).toMatchObject({
      code: 400,
      msg: expect.stringContaining('lacks a field'),
    })
  })

  test('can be replaced by another login method; token and permission check stay (Authentication 7)', async () => {
    const bySmsCode: VerifyPassword = async ({ username, password }) =>
      password === 'sms-123456'
        ? {
            userId: '9007199254740993',
            roleId: '3',
            roleKey: 'editor',
            roleName: 'Editor',
            username,
            dataScope: '5',
          }
        : undefined
    const postern = await startPostern({ config: dev, verifyPassword: bySmsCode })

    const wrong = await postLogin(postern, {
      username: '+1555',
      password: 'sms-000000',
      uuid: '-',
      code: '-',
    })
    const right = await postLogin(postern, {
      username: '+1555',
      password: 'sms-123456',
      uuid: '-',
      code: '-',
    })
    const { token } = right.json() as { token: string }
    await postern.call('GET /api/v1/public/a', { token })
    const refused = await postern.call('GET /api/v1/sys-user', { token })

    expect(wrong.json()).toMatchObject({ code: 400 })
    expect(refused.json()).toMatchObject({ code: 401 })
    expect(postern.upstream.requests.map((one) => one.values('x-user-id'))).toEqual([
      ['9007199254740993'],
    ])
    expect(postern.upstream.requests.map((one) => one.values('x-user-name'))).toEqual([['+1555']])
  })
})
