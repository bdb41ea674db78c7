import { describe, expect, test } from 'vitest'
import { refusalEnvelopes, statusEnvelopes } from '../../src/http/envelope.ts'
import { dev, goodLogin, postLogin } from '../support/log-in.ts'
import { type RawAnswer, request, sendRaw } from '../support/raw-client.ts'
import { startPostern } from '../support/start-postern.ts'
import { forge, tokenOf } from '../support/tokens.ts'

const real = { refusals: { status: 'real' } } as const
const challengeOf = (answer: RawAnswer) => answer.header('www-authenticate')

describe('refusals.status: real', () => {
  test('refuses a token with 401, a challenge of RFC 6750 and the same body', async () => {
    const postern = await startPostern({ config: real })
    const bodyOf = { code: 401, msg: 'please log in again' }
    const call = (token: string) => postern.call('GET /api/v1/public/a', { token })

    const missing = await postern.call('GET /api/v1/public/a')
    const invalid = await call(forge({ secret: 'another' }))
    const expired = await call(tokenOf('editor', { exp: 1 }))
    const left = tokenOf('editor')
    await postern.call('POST /api/v1/logout', { token: left })
    const revoked = await call(left)

    expect([missing.status, missing.json()]).toEqual([401, { code: 401, msg: 'please log in' }])
    expect(challengeOf(missing)).toBe('Bearer realm="postern"')
    for (const [answer, words] of [
      [invalid, 'The access token is invalid'],
      [expired, 'The access token expired'],
      [revoked, 'The access token is revoked'],
    ] as const) {
      expect([answer.status, answer.json()]).toEqual([401, bodyOf])
      expect(challengeOf(answer)).toBe(
        `Bearer realm="postern", error="invalid_token", error_description="${words}"`,
      )
    }
    expect(postern.upstream.bytes()).toBe(0)
    expect(postern.logText()).toMatch(/"status":401.*"outcome":"token-expired"/)
  })

  test('refuses a role with 403, whatever the code in the body', async () => {
    for (const notPermittedCode of [401, 403]) {
      const postern = await startPostern({
        config: { refusals: { status: 'real', notPermittedCode } },
      })

      const answer = await postern.call('DELETE /api/v1/public/a', { as: 'editor' })

      const msg = 'you have no permission for this operation'
      expect([answer.status, answer.json()]).toEqual([403, { code: notPermittedCode, msg }])
      expect(challengeOf(answer)).toBeUndefined()
      expect(postern.upstream.bytes()).toBe(0)
    }
  })

  test('refuses a cookie from another site with 403: another login would not help', async () => {
    const postern = await startPostern({ config: real })
    const headers = [`Cookie: jwt=${tokenOf('editor')}`, 'Sec-Fetch-Site: cross-site']

    const answer = await postern.call('POST /api/v1/articles', { headers })

    expect([answer.status, challengeOf(answer)]).toEqual([403, undefined])
    expect(postern.upstream.bytes()).toBe(0)
  })

  test('refuses too many logins with 429, and wrong ones with 400', async () => {
    const postern = await startPostern({
      config: { ...dev, ...real, login: { perAddressPerMinute: 2 } },
      verifyPassword: async () => undefined,
    })
    const fields = { ...goodLogin(postern), password: 'wrong' }

    const wrong = await postLogin(postern, fields)
    const malformed = await postLogin(postern, '{}')
    const limited = await postLogin(postern, fields)

    const msg = 'incorrect username or password'
    expect([wrong.status, wrong.json()]).toEqual([400, { code: 400, msg }])
    expect([malformed.status, malformed.json()]).toMatchObject([400, { code: 400 }])
    expect([limited.status, limited.json()]).toMatchObject([429, { code: 429 }])
    expect(Number(limited.header('retry-after'))).toBeGreaterThan(0)
    expect([wrong, malformed, limited].map(challengeOf)).toEqual([undefined, undefined, undefined])
  })

  test('keeps the connection open after a refused login', async () => {
    const postern = await startPostern({ config: { ...dev, ...real } })
    const json = ['Content-Type: application/json', 'Content-Length: 2']
    const bytes = request('POST /api/v1/login', json, '{}') + request('GET /api/v1/public/a')

    const { answers } = await sendRaw(postern.publicPort, bytes, { expected: 2 })

    expect(answers.map(({ status }) => status)).toEqual([400, 401])
  })
})

describe('the table of refusals', () => {
  const envelopes = refusalEnvelopes({ status: 'envelope', notPermittedCode: 401 })
  const reals = refusalEnvelopes({ status: 'real', notPermittedCode: 401 })
  const kinds = Object.keys(envelopes) as (keyof typeof envelopes)[]

  test.each(kinds)('%s has the same body either way', (kind) => {
    const { status: _, ...envelope } = envelopes[kind]
    const { status, challenge, ...other } = reals[kind]

    expect(other).toEqual(envelope)
    expect(status).toBeGreaterThanOrEqual(400)
    // RFC 9110 15.5.2.
    expect(challenge !== undefined).toBe(status === 401)
  })

  test.each(kinds)('%s has the status that forward-auth proxies get', (kind) => {
    expect(reals[kind].status).toBe(statusEnvelopes[kind].status)
  })
})
