import { describe, expect, test } from 'vitest'
import { goodLogin, postLogin } from '../support/log-in.ts'
import { startPostern, type TestPostern } from '../support/start-postern.ts'
import { until } from '../support/until.ts'

type Line = Readonly<Record<string, unknown>>

function requestLines({ logText }: TestPostern): readonly Line[] {
  const lines = logText().trimEnd().split('\n')
  return lines.map((line): Line => JSON.parse(line)).filter(({ msg }) => msg === 'request')
}

describe('a request', () => {
  test('is one line of JSON, written at its end, with these fields and no others', async () => {
    const postern = await startPostern()
    let end = () => {}
    postern.upstream.answerWith((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nha')
      end = () => void socket.write('lf')
    })

    const call = postern.call('GET /api/v1/articles/7?secret=in-the-query', { as: 'editor' })
    await until(() => postern.upstream.requests.length === 1)
    expect(requestLines(postern)).toEqual([])
    end()
    await call

    await until(() => requestLines(postern).length > 0)
    expect(requestLines(postern)).toEqual([
      {
        level: 'info',
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        requestId: expect.stringMatching(/^[\w-]{36}$/),
        method: 'GET',
        path: '/api/v1/articles/7',
        client: '127.0.0.1',
        status: 200,
        ms: expect.any(Number),
        caller: expect.any(String),
        role: 'editor',
        carrier: 'header',
        step: 'rule',
        revision: postern.revision,
        upstream: 'backend',
        outcome: 'passed',
        msg: 'request',
      },
    ])
    expect(postern.logText()).not.toContain('in-the-query')
  })

  test('to log in leaves neither password nor token in its line', async () => {
    const postern = await startPostern({ config: { application: { mode: 'dev' } } })
    const fields = goodLogin(postern)

    const { token } = (await postLogin(postern, fields)).json() as { token: string }
    await postLogin(postern, { ...fields, password: 'a-guess-of-somebody' })

    await until(() => requestLines(postern).length === 2)
    expect(requestLines(postern)).toMatchObject([
      { method: 'POST', path: '/api/v1/login', outcome: 'passed' },
      { method: 'POST', path: '/api/v1/login', outcome: 'wrong-credentials' },
    ])
    for (const own of [String(fields['password']), 'a-guess-of-somebody', token.slice(-24)]) {
      expect(postern.logText()).not.toContain(own)
    }
  })
})
