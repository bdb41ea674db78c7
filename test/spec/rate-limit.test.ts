import { describe, expect, test } from 'vitest'
import { dev, goodLogin, postLogin } from '../support/log-in.ts'
import type { RawAnswer } from '../support/raw-client.ts'
import { startPostern } from '../support/start-postern.ts'

function expectThrottled(answer: RawAnswer): void {
  expect(answer.status).toBe(200)
  expect(answer.json()).toEqual({ code: 429, msg: expect.any(String) })
  expect(Number(answer.header('retry-after'))).toBeGreaterThan(0)
}

describe('the rate-limit rejection', () => {
  test('answers with HTTP 200 and code 429: attempts from one address', async () => {
    const postern = await startPostern({ config: { ...dev, login: { perAddressPerMinute: 3 } } })

    for (let turn = 0; turn < 3; turn++) await postLogin(postern, goodLogin(postern))
    const answer = await postLogin(postern, goodLogin(postern))

    expectThrottled(answer)
  })

  test('holds for an account even with the right password, and hashes nothing', async () => {
    let asked = 0
    const postern = await startPostern({
      config: { ...dev, login: { failuresPerAccount: 5 } },
      verifyPassword: async () => {
        asked++
        return undefined
      },
    })

    for (let turn = 0; turn < 5; turn++)
      await postLogin(postern, { ...goodLogin(postern), password: 'x' })
    const answer = await postLogin(postern, goodLogin(postern))
    const other = await postLogin(postern, { ...goodLogin(postern), username: 'admin' })

    expectThrottled(answer)
    expect(asked).toBe(6)
    expect(other.json()).toMatchObject({ code: 400 })
  })

  test('starts anew for an account after a success', async () => {
    const postern = await startPostern({
      config: { ...dev, login: { failuresPerAccount: 2 } },
    })

    for (let turn = 0; turn < 4; turn++) {
      const answer = await postLogin(postern, goodLogin(postern))
      expect(answer.json()).toMatchObject({ code: 200 })
    }
  })

  test('covers captchas', async () => {
    const postern = await startPostern({ config: { login: { captchaPerAddressPerMinute: 2 } } })

    await postern.call('GET /api/v1/getCaptcha')
    await postern.call('GET /api/v1/getCaptcha')

    expectThrottled(await postern.call('GET /api/v1/getCaptcha'))
  })

  test('does not believe a client about its address', async () => {
    const postern = await startPostern({ config: { login: { captchaPerAddressPerMinute: 1 } } })
    const from = (address: string) =>
      postern.call('GET /api/v1/getCaptcha', { headers: [`X-Forwarded-For: ${address}`] })

    await from('1.1.1.1')

    expectThrottled(await from('2.2.2.2'))
  })
})
