import { describe, expect, test } from 'vitest'
import { takeCaptcha } from '../support/captchas.ts'
import { dev, goodLogin, postLogin } from '../support/log-in.ts'
import type { RawAnswer } from '../support/raw-client.ts'
import { startPostern, type TestPostern } from '../support/start-postern.ts'

/** What a browser would send back. */
function cookieOf(answer: RawAnswer): string {
  return answer.header('set-cookie')?.split(';')[0] ?? ''
}

function attributesOf(answer: RawAnswer): string[] {
  const [, ...attributes] = answer.header('set-cookie')?.split('; ') ?? []
  return attributes.sort()
}

async function logInProd(postern: TestPostern, headers: readonly string[] = []) {
  const fields = { ...goodLogin(postern), ...(await takeCaptcha(postern)) }
  return postLogin(postern, fields, ['Content-Type: application/json', ...headers])
}

const setting = (changes: Record<string, unknown> = {}) => ({
  cookie: { set: true, ...changes },
  jwt: { timeout: 600 },
})

describe('the cookie jwt', () => {
  test('is not set unless cookie.set says so', async () => {
    const postern = await startPostern({ config: dev })

    const answer = await postLogin(postern, goodLogin(postern))

    expect(answer.header('set-cookie')).toBeUndefined()
  })

  test('is set by login for as long as the token lives, for encrypted connections, out of reach of scripts', async () => {
    const postern = await startPostern({ config: setting() })

    const answer = await logInProd(postern)

    const { token } = answer.json() as { token: string }
    expect(cookieOf(answer)).toBe(`jwt=${token}`)
    expect(attributesOf(answer)).toEqual([
      'HttpOnly',
      'Max-Age=600',
      'Path=/',
      'SameSite=Lax',
      'Secure',
    ])
  })

  test.each([
    ['strict', 'SameSite=Strict'],
    ['none', 'SameSite=None'],
  ])('follows cookie.sameSite %s', async (sameSite, attribute) => {
    const postern = await startPostern({ config: setting({ sameSite }) })

    expect(attributesOf(await logInProd(postern))).toContain(attribute)
  })

  test('is not Secure in dev, where there is no TLS', async () => {
    const postern = await startPostern({ config: { ...dev, ...setting() } })

    const answer = await postLogin(postern, goodLogin(postern))

    expect(attributesOf(answer)).not.toContain('Secure')
  })

  test('is set by no login that fails', async () => {
    const postern = await startPostern({ config: { ...dev, ...setting() } })

    const answer = await postLogin(postern, { ...goodLogin(postern), password: 'wrong' })

    expect(answer.header('set-cookie')).toBeUndefined()
  })

  // A page of another site could else log its visitor in under an account of its own.
  test('is not set for a login that a page of another site sent', async () => {
    const postern = await startPostern({ config: setting() })

    const answer = await logInProd(postern, ['Origin: https://evil.example'])

    expect(answer.json()).toMatchObject({ code: 200 })
    expect(answer.header('set-cookie')).toBeUndefined()
  })

  test('carries a caller from login to logout, which clears it and ends the token', async () => {
    const postern = await startPostern({ config: setting() })
    const cookie = `Cookie: theme=dark; ${cookieOf(await logInProd(postern))}`

    const passed = await postern.call('GET /api/v1/public/a', { headers: [cookie] })
    const out = await postern.call('POST /api/v1/logout', { headers: [cookie], body: '' })
    const after = await postern.call('GET /api/v1/public/a', { headers: [cookie] })

    expect(passed.json()).toEqual({ ok: true })
    expect(postern.upstream.requests[0]?.values('cookie')).toEqual(['theme=dark'])
    expect(cookieOf(out)).toBe('jwt=')
    expect(attributesOf(out)).toEqual(['HttpOnly', 'Max-Age=0', 'Path=/', 'SameSite=Lax', 'Secure'])
    expect(after.json()).toMatchObject({ code: 401 })
  })

  test('is cleared, too, when an upstream answers the logout and sets cookies of its own', async () => {
    const postern = await startPostern({
      config: { ...setting(), endpoints: { logout: 'backend' } },
    })
    const cookie = `Cookie: ${cookieOf(await logInProd(postern))}`
    postern.upstream.answerWith((socket) =>
      socket.write('HTTP/1.1 200 OK\r\nSet-Cookie: theme=\r\nContent-Length: 2\r\n\r\n{}'),
    )

    const out = await postern.call('POST /api/v1/logout', { headers: [cookie], body: '' })

    const set = out.headers.filter(([name]) => name === 'set-cookie').map(([, value]) => value)
    expect(set).toEqual(['theme=', expect.stringMatching(/^jwt=; Max-Age=0; /)])
  })

  test('cannot log its bearer out from another site', async () => {
    const postern = await startPostern({ config: setting() })
    const cookie = `Cookie: ${cookieOf(await logInProd(postern))}`

    const forced = await postern.call('POST /api/v1/logout', {
      headers: [cookie, 'Sec-Fetch-Site: cross-site'],
      body: '',
    })
    const after = await postern.call('GET /api/v1/public/a', { headers: [cookie] })

    expect(forced.json()).toMatchObject({ code: 401 })
    expect(after.json()).toEqual({ ok: true })
  })
})
