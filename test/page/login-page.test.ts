import { describe, expect, test } from 'vitest'
import { dev } from '../support/log-in.ts'
import {
  attribute,
  cookieOf,
  navigation,
  nextOf,
  postForm,
  readCaptcha,
  startWithPage,
} from '../support/login-page.ts'
import { startPostern } from '../support/start-postern.ts'
import { tokenOf } from '../support/tokens.ts'

const accept = 'Accept: text/html,application/xhtml+xml,*/*;q=0.8'

describe('a browser that opens a protected page', () => {
  test('goes to the login page and back; every program gets the refusal', async () => {
    const postern = await startWithPage({ config: dev })
    const target = 'GET /api/v1/articles/1?x=1&token=secret&y=2'
    const browsers = [
      navigation,
      [...navigation, 'Accept: */*'],
      [accept],
      ['accept: TEXT/HTML;q=1'],
      [`Cookie: jwt=${tokenOf('editor', { lifetimeSeconds: -10 })}`, ...navigation],
    ]
    for (const headers of browsers) {
      const { status, body, ...answer } = await postern.call(target, { headers })
      expect({ status, body }, headers.join()).toEqual({ status: 302, body: '' })
      expect(answer.header('location')).toBe('/login?to=%2Fapi%2Fv1%2Farticles%2F1%3Fx%3D1%26y%3D2')
      expect(answer.header('cache-control')).toBe('no-store')
    }
    expect(postern.logText()).toContain('"outcome":"token-invalid"')
    expect(postern.logText()).not.toContain('secret')

    const programs = [
      [],
      ['Accept: application/json, text/plain, */*'],
      ['Accept: text/htmlx'],
      [accept, 'X-Requested-With: XMLHttpRequest'],
      ['Sec-Fetch-Mode: cors', 'Sec-Fetch-Dest: empty', accept],
      ['Sec-Fetch-Mode: navigate', 'Sec-Fetch-Dest: iframe', accept],
      ['Sec-Fetch-Mode: no-cors', 'Sec-Fetch-Dest: image', accept],
    ]
    for (const headers of programs) {
      const answer = await postern.call('GET /api/v1/articles/1', { headers })
      expect(answer.json(), headers.join()).toMatchObject({ code: 401 })
    }
    const posted = await postern.call('POST /api/v1/articles', { headers: navigation, body: '' })
    expect([posted.status, posted.header('www-authenticate')]).toEqual([401, 'Bearer'])
    expect(posted.body).toContain('<a href="/login">Log in</a>')
    const denied = await postern.call('GET /api/v1/nothing', { as: 'editor', headers: navigation })
    expect(denied.status).toBe(403)
    expect(postern.upstream.requests.length).toBe(0)
  })

  test('gets the refusal where the page is off, which is the default', async () => {
    const postern = await startPostern({ config: dev })
    const answer = await postern.call('GET /api/v1/articles/1', { headers: navigation })
    expect(answer.json()).toMatchObject({ code: 401 })
    // The path is the application's.
    const page = await postern.call('GET /login', { as: 'admin' })
    expect(page.status).toBe(200)
    expect(postern.upstream.requests.at(-1)?.target).toBe('/login')
  })
})

test('the form logs in by cookie, without a token in body or address, and goes where it began', async () => {
  const postern = await startWithPage()
  const to = encodeURIComponent('/api/v1/articles/1?x=1')
  const page = await postern.call(`GET /login?to=${to}`)
  const { uuid, code, picture } = await readCaptcha(postern, page.body)
  expect(picture.header('content-type')).toBe('image/png')
  const action = attribute(page.body, /<form method="post" action="([^"]*)"/)
  const fields = { username: 'editor', password: postern.passwords['editor'] ?? '', uuid, code }
  const answer = await postForm(postern, action, fields)

  expect(answer.status).toBe(200)
  expect(nextOf(answer)).toBe('/api/v1/articles/1?x=1')
  expect(answer.body).not.toContain(cookieOf(answer)?.slice('jwt='.length))
  expect(answer.header('set-cookie')).toMatch(/^jwt=[^;]+; .*HttpOnly; SameSite=Lax; Secure$/)
  const headers = [`Cookie: ${cookieOf(answer)}`, ...navigation]
  const read = await postern.call('GET /api/v1/articles/1?x=1', { headers })
  expect(read.status).toBe(200)
  expect(postern.upstream.requests.length).toBe(1)

  const again = await postForm(postern, action, fields)
  expect(again.body).toContain('The characters did not match')
  expect(again.header('set-cookie')).toBeUndefined()
})
