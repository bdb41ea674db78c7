import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { dev } from '../support/log-in.ts'
import { attribute, navigation, postForm, startWithPage } from '../support/login-page.ts'
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

  test('comes back to the page after it has logged out to use another account', async () => {
    const postern = await startWithPage({ config: dev })
    const headers = [...navigation, cookie('editor')]
    const { body } = await postern.call('GET /api/v1/sys-user?x=1', { headers })

    const link = attribute(body, /href="([^"]*)">Use another account/)
    const left = await postForm(postern, link, {}, [
      cookie('editor'),
      'Sec-Fetch-Site: same-origin',
    ])

    expect(body).toContain('<a href="/login/logout">Log out</a>')
    expect([left.status, left.header('location')]).toEqual([
      303,
      '/login?to=%2Fapi%2Fv1%2Fsys-user%3Fx%3D1&notice=logged-out',
    ])
  })

  test('is told whom to ask', async () => {
    const contacts = ['help@shop.example', 'https://shop.example/help', '<b>Ada</b>, room 5']
    const bodies: string[] = []
    for (const contact of contacts) {
      const postern = await startWithPage({ config: { ...dev, pages: { contact } } })
      const headers = [...navigation, cookie('editor')]
      bodies.push((await postern.call('GET /api/v1/sys-user', { headers })).body)
    }

    expect(bodies[0]).toContain('<a href="mailto:help@shop.example">help@shop.example</a>')
    expect(bodies[1]).toContain('<a href="https://shop.example/help">')
    expect(bodies[2]).toContain('Need help? Ask &#60;b&#62;Ada&#60;/b&#62;, room 5')
  })

  test('gets the page of the operator, without scripts and with values as text', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'postern-pages-'))
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
    const own = join(directory, '403.html')
    writeFileSync(own, '<style>p {}</style><p>{{user}} {{path}}</p><a href="{{switchUrl}}">x</a>')
    const routes = [{ path: '/api', upstream: 'backend' }]
    const postern = await startWithPage({ config: { ...dev, pages: { directory } }, routes })
    const headers = [...navigation, cookie('editor')]
    const line = 'GET /api/v1/sys-user/%22%3E%3Cscript%3E'

    const first = await postern.call(line, { headers })
    const other = await postern.call('GET /nothing', { headers: [...navigation, cookie('admin')] })
    writeFileSync(own, '<p>second</p>')
    await postern.apply(postern.config)
    const second = await postern.call(line, { headers })
    writeFileSync(own, '{{broken')
    await expect(postern.apply(postern.config)).rejects.toThrow('403.html:1')
    const third = await postern.call(line, { headers })

    expect([first.status, first.header('content-type')]).toEqual([403, 'text/html; charset=utf-8'])
    expect(first.body).toContain('<p>editor-user /api/v1/sys-user/%22%3E%3Cscript%3E</p>')
    expect(first.body).toContain('href="/login/logout?to=')
    expect(first.header('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'self' 'sha256-[^']{44}'; img-src 'self' data:; font-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'$/,
    )
    expect(other.body).toContain('This page cannot be shown')
    expect([second.body, third.body]).toEqual(['<p>second</p>', '<p>second</p>'])
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
