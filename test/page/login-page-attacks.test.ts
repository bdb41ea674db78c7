import { describe, expect, test } from 'vitest'
import { dev } from '../support/log-in.ts'
import { attribute, goodForm, nextOf, postForm, startWithPage } from '../support/login-page.ts'

describe('open redirect', () => {
  test('a login never leaves the host', async () => {
    const postern = await startWithPage({ config: dev })
    for (const to of [
      'https://evil.example/',
      '//evil.example',
      '/\\evil.example',
      '/\t/evil.example',
    ]) {
      const target = `/login?${new URLSearchParams({ to })}`
      const { body } = await postern.call(`GET ${target}`)
      expect(attribute(body, /action="([^"]*)"/)).toBe('/login')
    }
    const answer = await postForm(postern, '/login?to=//evil.example', goodForm(postern))
    expect([answer.status, nextOf(answer)]).toEqual([200, '/'])
    const quoted = await postForm(postern, "/login?to=/a';url=b", goodForm(postern))
    expect(nextOf(quoted)).toBe('/a%27;url=b')
  })

  test('keeps harmless paths, in one spelling, without a token', async () => {
    const postern = await startWithPage({ config: dev })
    const kept: (string | null)[] = []
    for (const to of ['/a/b?c=//d', '/a%2fb', '/%61', '/x?token=t&y=1', '/x?t%6fken=t']) {
      const { body } = await postern.call(`GET /login?${new URLSearchParams({ to })}`)
      const action = attribute(body, /action="([^"]*)"/)
      kept.push(new URL(action, 'http://gateway.test').searchParams.get('to'))
    }
    expect(kept).toEqual(['/a/b?c=//d', '/a%2Fb', '/a', '/x?y=1', '/x'])
  })
})

describe('login CSRF', () => {
  test.each([
    [['Sec-Fetch-Site: cross-site', 'Origin: https://evil.example']],
    [['Sec-Fetch-Site: same-site', 'Origin: https://sub.gateway.test']],
    [['Origin: https://evil.example']],
    [['Origin: null']],
  ])('a form of another site logs nobody in: %j', async (headers) => {
    const postern = await startWithPage({ config: dev })
    const answer = await postForm(postern, '/login', goodForm(postern), headers)
    expect(answer.body).toContain('This form was sent from another site.')
    expect(answer.header('set-cookie')).toBeUndefined()
    // What the other site wrote is not repeated.
    expect(answer.body).toContain('name="username" value=""')
    expect(postern.logText()).toContain('cross-site-cookie')
  })
})

describe('script injection', () => {
  const attack = `"'><script>alert(1)</script><img src=x onerror=alert(1)>`

  test('every text of a client or of the configuration is shown as text', async () => {
    const login = { page: { title: `<b>${attack}` } }
    const postern = await startWithPage({ config: { ...dev, login } })
    const query = new URLSearchParams({
      ...{ to: `/${attack}`, error: attack, notice: attack, lang: attack, captcha: attack },
    })
    const pages = [
      await postern.call(`GET /login?${query}`),
      await postForm(postern, `/login?${query}`, { ...goodForm(postern), username: attack }),
    ]
    for (const { body } of pages) {
      expect(body).toContain('&#60;b&#62;')
      expect(body).not.toMatch(/<b>|<script>|onerror=alert\(1\)>|<img src=x/)
      expect(body.match(/<script/g)?.length).toBe(1)
    }
    expect(pages[1]?.body).toContain('value="&#34;&#39;&#62;&#60;script')
  })

  test('an unknown error shows nothing, a known one its text', async () => {
    const postern = await startWithPage({ config: dev })
    const textOf = async (error: string) =>
      attribute(
        (await postern.call(`GET /login?error=${error}`)).body,
        /role="alert"[^>]*>([^<]*)</,
      )
    expect(await textOf('no-account')).toBe('You have no account here, ask an administrator.')
    expect(await textOf('identity-provider')).toMatch(/^The identity provider is not available/)
    // A callback with a broken query: there was no form to fill in.
    expect(await textOf('bad-login-request')).toMatch(/^This login is no longer valid/)
    expect(await textOf('__proto__')).toBe('')
    expect(await textOf('not-permitted')).toBe('')
  })
})

test('the page allows no frame, nothing inline and nothing foreign, and is never cached', async () => {
  const postern = await startWithPage({ config: dev })
  const { headers, body, ...page } = await postern.call('GET /login')
  expect(page.header('content-security-policy')).toBe(
    "default-src 'none'; style-src 'self'; img-src 'self'; media-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  )
  expect(page.header('x-frame-options')).toBe('DENY')
  expect(page.header('x-content-type-options')).toBe('nosniff')
  expect(page.header('cache-control')).toBe('no-store')
  expect(page.header('referrer-policy')).toBe('same-origin')
  expect(body).not.toMatch(/https?:\/\/|style=|<style|\son\w+=/)
  for (const name of ['style.css', 'script.js', 'icon.svg']) {
    const file = await postern.call(`GET /login/${name}`)
    expect(file.status, name).toBe(200)
    expect(file.header('x-content-type-options')).toBe('nosniff')
    expect(file.header('content-security-policy')).toContain('sandbox')
    expect(file.header('set-cookie')).toBeUndefined()
  }
  const wrong = await postern.call('DELETE /login')
  expect([wrong.status, wrong.header('allow')]).toEqual([405, 'GET, POST'])
  expect((await postern.call('GET /login/other')).json()).toMatchObject({ code: 401 })
  expect((await postern.call('GET /login/')).json()).toMatchObject({ code: 401 })
})
