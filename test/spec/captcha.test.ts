import { describe, expect, test } from 'vitest'
import { takeCaptcha, wrongly } from '../support/captchas.ts'
import { goodLogin, postLogin } from '../support/log-in.ts'
import { startPostern } from '../support/start-postern.ts'
import { nowSeconds } from '../support/tokens.ts'

const code = (answer: { json(): unknown }) => (answer.json() as { code: number }).code

describe('GET /api/v1/getCaptcha', () => {
  test('answers with an id for the uuid of login and a PNG picture', async () => {
    const postern = await startPostern()

    const answer = await postern.call('GET /api/v1/getCaptcha')

    const body = answer.json() as { id: string; data: string }
    expect(body).toMatchObject({ code: 200, msg: 'success', requestId: expect.any(String) })
    expect(body.id).toMatch(/^[0-9A-Za-z]{20}$/)
    expect(body.data).toMatch(/^data:image\/png;base64,iVBORw0KGgo/)
    expect(answer.header('cache-control')).toBe('no-store')
  })

  test('gives the text away nowhere but in the picture', async () => {
    const postern = await startPostern({
      config: { captcha: { length: 8 }, login: { captchaPerAddressPerMinute: 100 } },
    })

    for (let turn = 0; turn < 5; turn++) {
      const answer = await postern.call('GET /api/v1/getCaptcha')
      const text = postern.captchaTexts.at(-1) ?? ''
      expect(text).toHaveLength(8)
      expect(JSON.stringify([answer.headers, answer.body])).not.toContain(text)
      expect(postern.logText()).not.toContain(text)
    }
  })

  test('is an alias away where an old client wants another path', async () => {
    const with_ = await startPostern({ config: { captcha: { alias: true } } })
    const without = await startPostern()

    expect(code(await with_.call('GET /api/v1/captcha'))).toBe(200)
    expect(code(await without.call('GET /api/v1/captcha'))).toBe(401)
  })
})

describe('step 2 of login, the captcha', () => {
  test('is passed with the right answer', async () => {
    const postern = await startPostern()

    const answer = await postLogin(postern, {
      ...goodLogin(postern),
      ...(await takeCaptcha(postern)),
    })

    expect(answer.json()).toMatchObject({ code: 200, token: expect.any(String) })
  })

  test('refuses a wrong answer with code 400, whatever the password', async () => {
    const postern = await startPostern()

    const answer = await postLogin(postern, {
      ...goodLogin(postern),
      ...wrongly(await takeCaptcha(postern)),
    })

    expect([answer.status, answer.json()]).toEqual([200, { code: 400, msg: expect.any(String) }])
  })

  test('comes before the password: a wrong captcha never asks for credentials', async () => {
    let asked = 0
    const postern = await startPostern({
      verifyPassword: async () => {
        asked++
        return undefined
      },
    })

    await postLogin(postern, { ...goodLogin(postern), ...wrongly(await takeCaptcha(postern)) })
    await postLogin(postern, { ...goodLogin(postern), uuid: 'no-such-captcha', code: '0000' })

    expect(asked).toBe(0)
  })

  // T139
  test.each([
    ['a success', (fields: object) => fields, (captcha: object) => captcha],
    ['a wrong answer', (fields: object) => fields, wrongly],
    [
      'a wrong password',
      (fields: object) => ({ ...fields, password: 'wrong' }),
      (captcha: object) => captcha,
    ],
  ])('is good for one attempt: gone after %s', async (_, change, answered) => {
    const postern = await startPostern()
    const captcha = await takeCaptcha(postern)

    await postLogin(postern, { ...change(goodLogin(postern)), ...answered(captcha) })
    const again = await postLogin(postern, { ...goodLogin(postern), ...captcha })

    expect(again.json()).toMatchObject({ code: 400 })
  })

  // T140
  test('lets one of 50 concurrent attempts pass', async () => {
    const postern = await startPostern({
      config: { login: { perAddressPerMinute: 1000, failuresPerAccount: 1000 } },
    })
    const fields = { ...goodLogin(postern), ...(await takeCaptcha(postern)) }

    const answers = await Promise.all(Array.from({ length: 50 }, () => postLogin(postern, fields)))

    expect(answers.filter((answer) => code(answer) === 200)).toHaveLength(1)
  })

  test('expires', async () => {
    let now = nowSeconds()
    const postern = await startPostern({ now: () => now, config: { captcha: { ttlSeconds: 60 } } })
    const captcha = await takeCaptcha(postern)
    now += 60

    const answer = await postLogin(postern, { ...goodLogin(postern), ...captcha })

    expect(answer.json()).toMatchObject({ code: 400 })
  })

  test('of another gateway is unknown here', async () => {
    const [here, there] = [await startPostern(), await startPostern()]

    const answer = await postLogin(here, { ...goodLogin(here), ...(await takeCaptcha(there)) })

    expect(answer.json()).toMatchObject({ code: 400 })
  })

  test('takes its text from all of its alphabet', async () => {
    const postern = await startPostern({ config: { login: { captchaPerAddressPerMinute: 1000 } } })

    for (let turn = 0; turn < 100; turn++) await takeCaptcha(postern)

    const counts = Map.groupBy(postern.captchaTexts.join(''), (digit) => digit)
    expect([...counts.keys()].sort().join('')).toBe('0123456789')
  })
})
