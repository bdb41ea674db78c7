import { describe, expect, test } from 'vitest'
import { dev, goodLogin, logIn, postLogin } from '../support/log-in.ts'
import { sendRaw } from '../support/raw-client.ts'
import { startPostern } from '../support/start-postern.ts'

const chinese = 'Accept-Language: zh-CN,zh;q=0.9,en;q=0.8'

describe('the language of a message', () => {
  test('is the one that the client prefers', async () => {
    const postern = await startPostern({ config: dev })
    const headers = [chinese]

    const missing = await postern.call('GET /api/v1/public/a', { headers })
    const denied = await postern.call('GET /nowhere', { headers, as: 'editor' })
    const captcha = await postLogin(postern, { ...goodLogin(postern), password: 'x' }, [
      ...headers,
      'Content-Type: application/json',
    ])
    const ambiguous = await postern.call('GET /a/../b', { headers })

    expect(missing.json()).toEqual({ code: 401, msg: '请先登录' })
    expect(missing.header('content-language')).toBe('zh')
    expect(missing.header('vary')).toBe('Accept-Language')
    expect(missing.header('content-length')).toBe(
      String(Buffer.from(missing.body, 'latin1').length),
    )
    expect(denied.json()).toEqual({
      code: 401,
      msg: '对不起，您没有该接口访问权限，请联系管理员',
    })
    expect(captcha.json()).toEqual({ code: 400, msg: '用户名或密码错误' })
    expect(ambiguous.json()).toMatchObject({ code: 400, msg: '请求路径存在歧义' })
  })

  test('is English by default, and refusals.language otherwise', async () => {
    const own = { 'token-missing': 'Bitte „anmelden“', 'bad-request': 'Das war „nichts“' }
    const english = await startPostern()
    const another = await startPostern({
      config: {
        refusals: { language: 'de', messages: { de: own } },
      },
    })

    const usual = await english.call('GET /api/v1/public/a')
    const german = await another.call('GET /api/v1/public/a')
    const asked = await another.call('GET /api/v1/public/a', { headers: [chinese] })
    // Rejected by the parser: the language that the client prefers is unknown.
    const { answers } = await sendRaw(another.publicPort, 'GET / HTTP/1.1\r\nbroken\r\n\r\n')

    expect(usual.json()).toEqual({ code: 401, msg: 'please log in' })
    expect(usual.header('content-language')).toBe('en')
    expect(german.json()).toEqual({ code: 401, msg: 'Bitte „anmelden“' })
    expect(german.header('content-language')).toBe('de')
    expect(asked.json()).toEqual({ code: 401, msg: '请先登录' })
    expect(answers[0]?.json()).toEqual({ code: 400, msg: 'Das war „nichts“' })
  })

  test('covers what the gateway reports as done, and faults', async () => {
    const postern = await startPostern({ config: dev })
    const token = await logIn(postern)
    const headers = [chinese]
    postern.upstream.answerWith((socket) => socket.destroy())

    const fault = await postern.call('GET /api/v1/public/a', { headers, as: 'editor' })
    const gone = await postern.call('POST /api/v1/logout', { headers, token })

    expect(fault.json()).toMatchObject({ code: 502, msg: '后端服务返回了无效的响应' })
    expect(gone.json()).toEqual({ code: 200, msg: '退出成功' })
    expect(gone.header('content-language')).toBe('zh')
  })
})

test('an attacker gets nothing but a message by any Accept-Language', async () => {
  const postern = await startPostern()
  const values = [
    `zh,${'a-'.repeat(4000)}`,
    'a,'.repeat(5000),
    `zh${';q=0.5'.repeat(1000)}`,
    `${'\t '.repeat(2000)}zh-${' '.repeat(2000)}`,
    '"><script>, zh\u0000',
    '__proto__, constructor;q=0.9',
  ]

  for (const value of values) {
    const headers = [`Accept-Language: ${value}`]
    const answer = await postern.call('GET /api/v1/public/a', { headers })

    expect([200, 400, 431]).toContain(answer.status)
    expect(answer.body).toMatch(/^\{"code":\d+,"msg":"(?:please log in|malformed request)"/)
    expect(answer.header('content-language') ?? 'en').toBe('en')
  }
})
