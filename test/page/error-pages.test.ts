import { describe, expect, test } from 'vitest'
import { dev } from '../support/log-in.ts'
import { navigation, startWithPage } from '../support/login-page.ts'
import { tokenOf } from '../support/tokens.ts'

const cookie = (role: string) => `Cookie: jwt=${tokenOf(role)}`
const routes = [
  { path: '/small', upstream: 'backend', bodyBytes: 4 },
  { path: '/few', upstream: 'backend', limit: { requests: 1, seconds: 3600 } },
]

describe('a browser that opens a page', () => {
  test('without permission is told who is logged in, what was refused, and how to change', async () => {
    const postern = await startWithPage({ config: dev })

    const answer = await postern.call('GET /api/v1/sys-user?x=1', {
      headers: [...navigation, cookie('editor')],
    })

    expect([answer.status, answer.header('content-type')]).toEqual([
      403,
      'text/html; charset=utf-8',
    ])
    expect(answer.header('content-security-policy')).toMatch(/^default-src 'none';/)
    expect(answer.header('cache-control')).toBe('no-store')
    for (const part of [
      'You have no permission for this operation.',
      'You are logged in as editor-user.',
      'GET /api/v1/sys-user<',
      'href="/api/v1/sys-user?x=1"',
      'href="/login/logout?to=',
    ]) {
      expect(answer.body).toContain(part)
    }
    const [, id = ''] = /Request ID: ([0-9a-f-]{36})/.exec(answer.body) ?? []
    expect(postern.logText()).toContain(`"${id}"`)
    expect(answer.body).not.toMatch(/<script>|style=/)
    expect(postern.upstream.bytes()).toBe(0)
  })

  test('gets it in its language, with the real status, whatever JSON clients get', async () => {
    const postern = await startWithPage({ config: dev })
    const sent = [cookie('editor'), 'Accept-Language: zh-CN']

    const page = await postern.call('GET /api/v1/sys-user', { headers: [...navigation, ...sent] })
    const json = await postern.call('GET /api/v1/sys-user', { headers: sent })

    expect([page.status, page.header('content-language')]).toEqual([403, 'zh-CN'])
    expect(page.body).toContain('<html lang="zh-CN">')
    expect([json.status, json.header('content-type')]).toEqual([
      200,
      expect.stringContaining('application/json'),
    ])
  })

  test('is told that a path does not exist, that it must wait, and that a file is too large', async () => {
    const postern = await startWithPage({ config: dev, routes })
    const headers = [...navigation, cookie('admin')]

    const none = await postern.call('GET /nothing', { headers })
    const large = await postern.call('POST /small', { headers, body: 'x'.repeat(64) })
    await postern.call('GET /few', { headers })
    const often = await postern.call('GET /few', { headers })

    expect([none.status, large.status, often.status]).toEqual([404, 413, 429])
    expect(often.header('retry-after')).toMatch(/^[0-9]+$/)
    for (const { body } of [none, large, often]) expect(body).toContain('This page cannot be shown')
    // The form cannot be sent again by a link.
    expect([none.body.includes('Try again'), large.body.includes('Try again')]).toEqual([
      true,
      false,
    ])
  })

  test('is told that the service is down', async () => {
    const postern = await startWithPage({ config: dev })
    postern.upstream.answerWith((socket) => socket.destroy())

    const answer = await postern.call('GET /api/v1/public/a', {
      headers: [...navigation, cookie('editor')],
    })

    expect([answer.status, answer.header('content-type')]).toEqual([
      502,
      'text/html; charset=utf-8',
    ])
    expect(answer.body).toContain('href="/api/v1/public/a"')
  })

  test('cannot be shown markup of an attacker', async () => {
    const postern = await startWithPage({ config: dev })
    const target = '/api/v1/sys-user/%3Cscript%3Ealert(1)%3C/script%3E?a=%22%3E%3Cimg%20src=x%3E'

    const { body } = await postern.call(`GET ${target}`, {
      headers: [...navigation, cookie('editor')],
    })

    expect(body).not.toMatch(/<script>|<img|"><i/)
  })

  test.each([
    ['a script', ['Sec-Fetch-Mode: cors', 'Sec-Fetch-Dest: empty', 'Accept: text/html']],
    ['a frame', ['Sec-Fetch-Mode: navigate', 'Sec-Fetch-Dest: iframe']],
    ['a program', ['Accept: application/json']],
  ])('%s gets JSON', async (_, headers) => {
    const postern = await startWithPage({ config: dev })

    const answer = await postern.call('GET /api/v1/sys-user', {
      headers: [...headers, cookie('editor')],
    })

    expect(answer.status).toBe(200)
    expect(answer.json()).toMatchObject({ code: 401 })
  })
})
