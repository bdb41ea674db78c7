import { describe, expect, test } from 'vitest'
import { dev } from '../support/log-in.ts'
import {
  attribute,
  cookieOf,
  goodForm,
  navigation,
  nextOf,
  postForm,
  readCaptcha,
  startWithPage,
} from '../support/login-page.ts'

describe('the login form', () => {
  test('shows what went wrong, keeps the name and not the password, logs the refusal', async () => {
    const postern = await startWithPage({ config: dev })
    const wrong = { ...goodForm(postern), password: 'hunter2 hunter2' }
    const answer = await postForm(postern, '/login?to=/x', wrong)

    expect(answer.status).toBe(200)
    expect(answer.body).toMatch(
      /role="alert" tabindex="-1" autofocus>Incorrect username or password\.</,
    )
    expect(answer.body).toContain('<title>Error: Log in</title>')
    expect(answer.body).toContain('value="editor"')
    expect(answer.body).not.toContain('hunter2')
    expect(attribute(answer.body, /action="([^"]*)"/)).toBe('/login?to=%2Fx')
    const line = postern
      .logText()
      .split('\n')
      .find((each) => each.includes('wrong-credentials'))
    expect(line).toContain('"/login"')
    expect(postern.logText()).not.toContain('hunter2')

    const empty = await postForm(postern, '/login', { username: 'editor' })
    expect(empty.body).toContain('Fill in every field')
    const json = await postern.call('POST /login', {
      headers: ['Content-Type: application/json', 'Sec-Fetch-Site: same-origin'],
      body: JSON.stringify(goodForm(postern)),
    })
    expect(json.body).toContain('Fill in every field')
    const large = await postForm(postern, '/login', { username: 'x'.repeat(20_000) })
    expect(large.body).toContain('Fill in every field')
  })

  test('counts attempts like the API and says when to try again', async () => {
    const postern = await startWithPage({ config: { ...dev, login: { failuresPerPair: 2 } } })
    const wrong = { ...goodForm(postern), username: 'nobody-here', password: 'wrong words' }
    await postForm(postern, '/login', wrong)
    await postForm(postern, '/login', wrong)
    const answer = await postForm(postern, '/login', wrong)
    expect(answer.body).toContain('Too many requests, try again later.')
    expect(Number(answer.header('retry-after'))).toBeGreaterThan(0)
  })

  test('is in the language of the browser or the chosen one, and keeps the choice', async () => {
    const postern = await startWithPage({ config: dev })
    const page = async (target: string, language?: string) =>
      postern.call(`GET ${target}`, {
        headers: language === undefined ? [] : [`Accept-Language: ${language}`],
      })
    expect((await page('/login')).body).toContain('<html lang="en">')
    const chinese = await page('/login', 'fr, zh-TW;q=0.9, en;q=0.8')
    expect(chinese.body).toContain('<html lang="zh-CN">')
    expect(chinese.header('content-language')).toBe('zh-CN')
    expect(chinese.header('vary')).toContain('Accept-Language')
    const chosen = await page('/login?lang=zh&to=/a', 'en')
    expect(Buffer.from(chosen.body, 'latin1').toString()).toContain('密码')
    expect(attribute(chosen.body, /action="([^"]*)"/)).toBe('/login?to=%2Fa&lang=zh')
    expect(chosen.body).toContain('href="/login?to=%2Fa&#38;lang=en"')
  })
})

test('a recovery code has letters, so its field opens no keyboard of digits', async () => {
  const secondFactor = { roles: ['admin'] }
  const postern = await startWithPage({ config: { ...dev, login: { secondFactor } } })
  const { body } = await postern.call('GET /login')
  expect(body).toContain('autocomplete="one-time-code"')
  expect(/<input id="otp"[^>]*>/.exec(body)?.[0]).not.toContain('inputmode')
})

describe('the captcha of the form', () => {
  test('has one picture, however often it is loaded, and ends', async () => {
    let now = Date.now() / 1000
    const postern = await startWithPage({ now: () => now })
    const page = await postern.call('GET /login')
    const first = await readCaptcha(postern, page.body)
    const second = await readCaptcha(postern, page.body)
    expect(second.picture.body).toBe(first.picture.body)
    expect(second.code).toBe(first.code)
    expect(first.source).not.toContain(first.code)
    const other = await postern.call('GET /login')
    expect((await readCaptcha(postern, other.body)).picture.body).not.toBe(first.picture.body)

    const changed = first.source.replace(/text=./, (text) =>
      text === 'text=A' ? 'text=B' : 'text=A',
    )
    expect((await postern.call(`GET ${changed}`)).status).toBe(404)
    expect((await postern.call('GET /login/captcha.png')).status).toBe(404)
    now += 601
    expect((await postern.call(`GET ${first.source}`)).status).toBe(404)
  })

  test('is spoken too, in the language of the page, with the same answer', async () => {
    const postern = await startWithPage()
    const page = await postern.call('GET /login?captcha=audio&lang=zh')
    const source = attribute(page.body, /<audio controls src="([^"]*)"/)
    expect(page.body).not.toContain('captcha.png')
    const sound = await postern.call(`GET ${source}`)
    expect(sound.header('content-type')).toBe('audio/wav')
    expect(sound.body.slice(0, 4)).toBe('RIFF')
    // Four digits and five gaps take seconds, at 16,000 bytes each.
    expect(sound.body.length).toBeGreaterThan(48_000)
    expect((await postern.call(`GET ${source}`)).body).toBe(sound.body)
    // Safari plays nothing from a server that ignores its ranges.
    const part = (range: string) => postern.call(`GET ${source}`, { headers: [`Range: ${range}`] })
    const first = await part('bytes=0-1')
    expect([first.status, first.body]).toEqual([206, 'RI'])
    expect(first.header('content-range')).toBe(`bytes 0-1/${sound.body.length}`)
    expect((await part('bytes=2-')).body).toBe(sound.body.slice(2))
    expect((await part('bytes=-3')).body).toBe(sound.body.slice(-3))
    for (const odd of ['bytes=9-1', 'bytes=0-1,3-4', 'bytes=-', 'bytes=99999999-', 'lines=0-1']) {
      expect((await part(odd)).body, odd).toBe(sound.body)
    }
    const english = await postern.call(`GET ${source.replace('lang=zh', 'lang=en')}`)
    expect(english.body).not.toBe(sound.body)

    await postern.call(`GET ${source.replace('.wav', '.png')}`)
    const uuid = attribute(page.body, /name="uuid" value="([^"]*)"/)
    const code = postern.captchaTexts.at(-1) ?? ''
    const answer = await postForm(postern, '/login', { ...goodForm(postern), uuid, code })
    expect(nextOf(answer)).toBe('/')
  })

  test('is limited per address, and so are its pictures', async () => {
    const postern = await startWithPage({ config: { login: { captchaPerAddressPerMinute: 2 } } })
    const page = await postern.call('GET /login')
    const { source } = await readCaptcha(postern, page.body)
    expect((await postern.call(`GET ${source}`)).json()).toMatchObject({ code: 429 })
    const refused = await postern.call('GET /login')
    expect(refused.body).toContain('Too many requests')
    expect(refused.body).not.toContain('<form')
  })
})

describe('a logged-in caller', () => {
  test('needs a login for these pages, whatever the policy says of them', async () => {
    const postern = await startWithPage({ config: dev, exclusions: [] })
    for (const page of ['/login/password', '/login/logout']) {
      const answer = await postern.call(`GET ${page}`, { headers: navigation })
      expect(answer.header('location')).toBe(`/login?to=${encodeURIComponent(page)}`)
      expect((await postern.call(`GET ${page}`)).json()).toMatchObject({ code: 401 })
      expect((await postern.call(`GET ${page}`, { as: 'editor' })).status).toBe(200)
    }
  })

  test('does not see pages that an upstream serves instead', async () => {
    const endpoints = { logout: 'backend', password: 'backend' }
    const postern = await startWithPage({ config: { ...dev, endpoints } })
    const login = await postForm(postern, '/login', goodForm(postern))
    const headers = [`Cookie: ${cookieOf(login)}`]
    const { body } = await postern.call('GET /login', { headers })
    expect(body).not.toContain('/login/password')
    expect(body).not.toContain('/login/logout')
  })
})
