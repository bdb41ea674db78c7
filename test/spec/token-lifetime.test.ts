import { describe, expect, test } from 'vitest'
import { goodLogin, postLogin } from '../support/log-in.ts'
import { expectUnauthenticated } from '../support/outcomes.ts'
import { startPostern, type TestPostern } from '../support/start-postern.ts'
import { nowSeconds, tokenOf } from '../support/tokens.ts'

const call = (postern: TestPostern, token: string) =>
  postern.call('GET /api/v1/public/a', { token })

function outcomes(postern: TestPostern): unknown[] {
  return [...postern.logText().matchAll(/"outcome":"([^"]+)"/g)].map(([, outcome]) => outcome)
}

describe('a token that lives longer than this gateway could have made it live', () => {
  test('was issued in mode dev with the same secret: production rejects it', async () => {
    const dev = await startPostern({ config: { application: { mode: 'dev' } } })
    const production = await startPostern()
    const login = await postLogin(dev, goodLogin(dev))
    const { token } = login.json() as { token: string }

    // More than once: a signature that was good before must not open what the first look closed.
    const answers = [await call(production, token), await call(production, token)]

    expect((await call(dev, token)).status).toBe(200)
    for (const answer of answers) expectUnauthenticated(answer, production.upstream)
    expect(outcomes(production)).toEqual(['token-too-long-lived', 'token-too-long-lived'])
    expect(production.logText()).toContain('at most 3600 s is accepted')
    expect(await production.ops.metrics.text()).toMatch(
      /postern_authn_total\{result="token-too-long-lived",carrier="header"\} 2/,
    )
  })

  const hour = 3600
  test.each([
    ['an expiry in milliseconds', { exp: (nowSeconds() + hour) * 1000 }],
    ['an expiry in microseconds', { exp: (nowSeconds() + hour) * 1e6 }],
    ['an expiry beyond every calendar', { exp: 1e300 }],
    ['the same without an issue time', { exp: 1e300, orig_iat: undefined }],
    ['the same issued at the beginning of time', { exp: 1e300, orig_iat: 0 }],
    ['a day by iat', { orig_iat: undefined, iat: nowSeconds(), exp: nowSeconds() + 24 * hour }],
    ['two hours, one of which is over', { orig_iat: nowSeconds() - hour }],
    ['more left than any lifetime', { exp: nowSeconds() + 2 * hour, orig_iat: undefined }],
  ])('is rejected with %s', async (_, claims) => {
    const postern = await startPostern()

    const answer = await call(postern, tokenOf('editor', claims))

    expectUnauthenticated(answer, postern.upstream)
    expect(outcomes(postern)).toEqual(['token-too-long-lived'])
  })

  test.each([
    ['exactly jwt.timeout', { exp: nowSeconds() + hour, orig_iat: nowSeconds() }],
    ['no issue time and less than that left', { exp: nowSeconds() + hour, orig_iat: undefined }],
    ['a second more, by an issuer with fractions', { exp: nowSeconds() + hour + 1.5 }],
  ])('does not include one with %s', async (_, claims) => {
    const postern = await startPostern()

    expect((await call(postern, tokenOf('editor', claims))).status).toBe(200)
    expect(postern.upstream.requests).toHaveLength(1)
  })

  test('is accepted from another issuer up to jwt.maxLifetimeSeconds', async () => {
    const postern = await startPostern({ config: { jwt: { maxLifetimeSeconds: 86_400 } } })

    await call(postern, tokenOf('editor', { exp: nowSeconds() + 86_400 }))
    await call(postern, tokenOf('editor', { exp: nowSeconds() + 90_000 }))

    expect(outcomes(postern)).toEqual(['passed', 'token-too-long-lived'])
  })
})
