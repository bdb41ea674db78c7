import { describe, expect, test } from 'vitest'
import { takeCaptcha } from '../support/captchas.ts'
import { goodLogin, postLogin } from '../support/log-in.ts'
import { startPostern } from '../support/start-postern.ts'
import { nowSeconds } from '../support/tokens.ts'

function lifetime(answer: { json(): unknown }): number {
  const { token } = answer.json() as { token: string }
  const { exp, orig_iat: issued } = JSON.parse(
    Buffer.from(token.split('.')[1] ?? '', 'base64url').toString(),
  )
  return exp - issued
}

function modeLine(log: string): unknown {
  const lines = log.split('\n').filter((line) => line !== '')
  return lines.map((line) => JSON.parse(line)).find(({ msg }) => msg === 'application mode')
}

describe('application.mode', () => {
  test('dev skips the captcha and forces a token lifetime of roughly 100 years', async () => {
    const postern = await startPostern({
      config: { application: { mode: 'dev' }, jwt: { timeout: 60 } },
    })

    const answer = await postLogin(postern, goodLogin(postern))

    const years = lifetime(answer) / (365.25 * 86_400)
    expect(years).toBeGreaterThan(99)
    expect(years).toBeLessThan(101)
    expect(postern.logText()).toContain('MODE DEV')
    expect(modeLine(postern.logText())).toMatchObject({ mode: 'dev', captchaRequired: false })
  })

  test('is logged at startup outside dev too, with what follows from it', async () => {
    const postern = await startPostern({ config: { jwt: { timeout: 60 } } })

    expect(modeLine(postern.logText())).toMatchObject({
      level: 'info',
      mode: 'prod',
      captchaRequired: true,
      tokenLifetimeSeconds: 60,
    })
    expect(postern.logText()).not.toContain('MODE DEV')
  })

  test.each(['prod', 'DEV', ' dev', 'Dev', 'dev ', 'test', 'demo', 'anything'])(
    '%j applies neither behaviour',
    async (mode) => {
      const postern = await startPostern({
        config: { application: { mode }, jwt: { timeout: 60 } },
      })

      const without = await postLogin(postern, goodLogin(postern))
      const answer = await postLogin(postern, {
        ...goodLogin(postern),
        ...(await takeCaptcha(postern)),
      })

      expect(without.json()).toMatchObject({ code: 400 })
      expect(lifetime(answer)).toBe(60)
    },
  )

  test('a token expired in prod can only be replaced by logging in again', async () => {
    let now = nowSeconds()
    const postern = await startPostern({ now: () => now, config: { jwt: { timeout: 60 } } })
    const answer = await postLogin(postern, {
      ...goodLogin(postern),
      ...(await takeCaptcha(postern)),
    })
    const { token } = answer.json() as { token: string }
    now += 60

    const endpoints = [
      'GET /api/v1/refresh_token',
      'GET /api/v1/user/profile',
      'POST /api/v1/logout',
      'GET /api/v1/public/a',
    ]
    const answers = await Promise.all(
      endpoints.map((line) => postern.call(line, { token, body: '' })),
    )

    expect(answers.map((one) => (one.json() as { code: number }).code)).toEqual([
      404, 401, 401, 401,
    ])
    expect(answers.map((one) => one.body).join('')).not.toContain('token":"')
  })
})
