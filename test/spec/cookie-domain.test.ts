import { describe, expect, test } from 'vitest'
import { Invalid } from '../../src/kernel/errors.ts'
import { takeCaptcha } from '../support/captchas.ts'
import { dev, goodLogin, postLogin } from '../support/log-in.ts'
import type { RawAnswer } from '../support/raw-client.ts'
import { startPostern, type TestPostern } from '../support/start-postern.ts'
import { readTestConfig } from '../support/test-config.ts'

const start = (cookie: Record<string, unknown>) =>
  startPostern({ config: { cookie: { set: true, ...cookie }, jwt: { timeout: 600 } } })

async function logIn(postern: TestPostern): Promise<RawAnswer> {
  const fields = { ...goodLogin(postern), ...(await takeCaptcha(postern)) }
  return postLogin(postern, fields, ['Content-Type: application/json'])
}

function setCookie(answer: RawAnswer): string {
  return (answer.header('set-cookie') ?? '').replace(/=ey[^;]*/, '=TOKEN')
}

const rest = 'Path=/; HttpOnly; SameSite=Lax; Secure'

describe('the cookie of the token', () => {
  test.each([
    [{}, `jwt=TOKEN; Max-Age=600; ${rest}`],
    [{ prefix: true }, `__Host-jwt=TOKEN; Max-Age=600; ${rest}`],
    [{ domain: 'example.com' }, `__Secure-jwt=TOKEN; Max-Age=600; Domain=example.com; ${rest}`],
    [
      { domain: 'example.com', prefix: false },
      `jwt=TOKEN; Max-Age=600; Domain=example.com; ${rest}`,
    ],
  ])('has the name and the domain of %j, from login to logout', async (cookie, expected) => {
    const postern = await start(cookie)
    const login = await logIn(postern)
    expect(setCookie(login)).toBe(expected)

    const [sent = ''] = (login.header('set-cookie') ?? '').split(';')
    const headers = [`Cookie: theme=dark; ${sent}`, 'Sec-Fetch-Site: same-origin']
    expect((await postern.call('GET /api/v1/public/a', { headers })).json()).toEqual({ ok: true })
    expect(postern.upstream.requests[0]?.values('cookie')).toEqual(['theme=dark'])

    const logout = await postern.call('POST /api/v1/logout', { headers, body: '' })
    expect(setCookie(logout)).toBe(expected.replace('TOKEN; Max-Age=600', '; Max-Age=0'))
    const after = await postern.call('GET /api/v1/public/a', { headers })
    expect(after.json()).toMatchObject({ code: 401 })
  })

  test('has no prefix in dev, where browsers would reject it', async () => {
    const cookie = { set: true, domain: 'example.test', prefix: true }
    const postern = await startPostern({ config: { ...dev, cookie } })
    const set = setCookie(await postLogin(postern, goodLogin(postern)))
    expect(set).toMatch(/^jwt=TOKEN; Max-Age=\d+; Domain=example\.test; Path=\/; /)
  })
})

function problemsOf(domain: string): string {
  try {
    readTestConfig({ cookie: { set: true, domain } })
    return ''
  } catch (error) {
    if (!(error instanceof Invalid)) throw error
    return error.problems.map(({ message }) => message).join('\n')
  }
}

describe('cookie.domain', () => {
  test.each([
    'com',
    'co.uk',
    'github.io',
    'compute.amazonaws.com',
    'kobe.jp',
    'localhost',
    'internal',
    'xn--55qx5d.cn',
  ])('is not the public suffix %s', (domain) => {
    expect(problemsOf(domain)).toContain(`cookie.domain: "${domain}" is a public suffix`)
  })

  test.each([
    ['127.0.0.1', 'is not a domain'],
    ['10.1', 'is not a domain'],
    ['Example.com', 'write example.com'],
    ['.example.com', 'cookie.domain'],
    ['*.example.com', 'cookie.domain'],
    ['example.com:8443', 'cookie.domain'],
    ['https://example.com', 'cookie.domain'],
    ['example.com; Path=/x', 'cookie.domain'],
    ['', 'cookie.domain'],
  ])('is not %j', (domain, message) => {
    expect(problemsOf(domain)).toContain(message)
  })

  test.each(['example.com', 'apps.example.co.uk', 'me.github.io', 'example.test', 'a_b.corp'])(
    'may be %s',
    (domain) => {
      expect(problemsOf(domain)).toBe('')
    },
  )
})
