import { describe, expect, test } from 'vitest'
import { createCrossSite } from '../../src/gateway/cross-site.ts'
import { dev, logIn } from '../support/log-in.ts'
import { expectUnauthenticated } from '../support/outcomes.ts'
import { startPostern } from '../support/start-postern.ts'
import { tokenOf } from '../support/tokens.ts'

const editor = tokenOf('editor')
const cookie = `Cookie: jwt=${editor}`
const bearer = `Authorization: Bearer ${editor}`
/** The Host of every request in these tests is gateway.test. */
const own = 'http://gateway.test'
const trusting = { config: { cookie: { trustedOrigins: ['https://app.test:8443'] } } }

// T133. A page of another site makes a browser send the cookie of whoever is logged in.
describe('a cookie on a request that changes something', () => {
  const foreign = [
    ['another origin', ['Origin: https://evil.example']],
    ['an opaque origin', ['Origin: null']],
    ['our name on another port', ['Origin: http://gateway.test:8080']],
    ['our name as a part of another', ['Origin: http://gateway.test.evil.example']],
    ['our name as user name', ['Origin: http://gateway.test@evil.example']],
    ['our name behind a path', ['Origin: https://evil.example/gateway.test']],
    ['our name with a path', ['Origin: http://gateway.test/']],
    ['another scheme', ['Origin: ftp://gateway.test']],
    ['the name alone', ['Origin: gateway.test']],
    ['an empty origin', ['Origin:']],
    ['two origins in one', ['Origin: http://gateway.test http://evil.example']],
    ['a cross-site fetch', ['Sec-Fetch-Site: cross-site']],
    ['a cross-site fetch that shows our origin', ['Sec-Fetch-Site: cross-site', `Origin: ${own}`]],
    ['a same-site fetch', ['Sec-Fetch-Site: same-site', 'Origin: http://other.gateway.test']],
    ['a fetch from a place nobody knows', ['Sec-Fetch-Site: moon']],
    ['an empty Sec-Fetch-Site', ['Sec-Fetch-Site:']],
    ['a trusted origin on another port', ['Origin: https://app.test']],
    ['a trusted origin with another scheme', ['Origin: http://app.test:8443']],
  ] as const

  test.each(foreign)('is refused with %s', async (_, headers) => {
    const postern = await startPostern(trusting)

    const answer = await postern.call('POST /api/v1/articles', {
      headers: [cookie, ...headers],
      body: '{}',
    })

    expectUnauthenticated(answer, postern.upstream)
    expect(postern.logText()).toContain('"outcome":"cross-site-cookie"')
  })

  test('is refused under every method but the safe ones', async () => {
    const postern = await startPostern()
    const headers = [`Cookie: jwt=${tokenOf('admin')}`, 'Origin: https://evil.example']
    const methods = ['POST', 'PUT', 'PATCH', 'DELETE', 'LINK', 'PROPFIND', 'GET', 'OPTIONS']

    const answers = await Promise.all(
      methods.map((method) => postern.call(`${method} /api/v1/a`, { headers, body: '' })),
    )

    const refused = methods.filter((_, at) => !answers[at]?.body.includes('"ok":true'))
    expect(refused).toEqual(['POST', 'PUT', 'PATCH', 'DELETE', 'LINK', 'PROPFIND'])
  })

  test.each([
    ['our own origin', [`Origin: ${own}`]],
    ['our own origin over TLS that ended before us', ['Origin: https://gateway.test']],
    ['a fetch of our own page', ['Sec-Fetch-Site: same-origin', `Origin: ${own}`]],
    // A proxy before us may have changed Host; the browser knows better.
    [
      'a fetch of our own page under another name',
      ['Sec-Fetch-Site: same-origin', 'Origin: https://www.test'],
    ],
    ['an address typed by hand', ['Sec-Fetch-Site: none']],
    ['a trusted origin', ['Origin: https://app.test:8443']],
    [
      'a trusted origin of another site',
      ['Origin: https://app.test:8443', 'Sec-Fetch-Site: cross-site'],
    ],
    ['neither header, as a program sends it', []],
  ])('passes with %s', async (_, headers) => {
    const postern = await startPostern(trusting)

    const answer = await postern.call('POST /api/v1/articles', {
      headers: [cookie, ...headers],
      body: '{}',
    })

    expect(answer.json()).toEqual({ ok: true })
  })

  // Behind a proxy of ours, our origin is what the proxy was asked for.
  test.each([
    ['https://www.test', true],
    ['http://www.test', false],
    [own, false],
  ])(
    'is judged by the name that a trusted proxy gives us: %s passes %s',
    async (origin, passes) => {
      const postern = await startPostern({
        config: { application: { trustedProxies: ['127.0.0.1'] } },
      })
      const forwarded = ['X-Forwarded-Host: www.test', 'X-Forwarded-Proto: https']

      const answer = await postern.call('POST /api/v1/articles', {
        headers: [cookie, ...forwarded, `Origin: ${origin}`],
        body: '{}',
      })

      expect(answer.body === '{"ok":true}').toBe(passes)
    },
  )

  test('does not believe a stranger about our name', async () => {
    const postern = await startPostern()

    const answer = await postern.call('POST /api/v1/articles', {
      headers: [cookie, 'X-Forwarded-Host: evil.example', 'Origin: https://evil.example'],
      body: '{}',
    })

    expectUnauthenticated(answer, postern.upstream)
  })

  test('is refused with two Origin headers or two Sec-Fetch-Site headers', async () => {
    const postern = await startPostern()
    const pairs = [
      [`Origin: ${own}`, 'Origin: https://evil.example'],
      ['Sec-Fetch-Site: same-origin', 'Sec-Fetch-Site: cross-site'],
    ]

    for (const pair of pairs) {
      const answer = await postern.call('POST /api/v1/articles', {
        headers: [cookie, ...pair],
        body: '{}',
      })
      expect(answer.status).toBe(400)
    }
    expect(postern.upstream.bytes()).toBe(0)
  })

  test.each(foreign)('does not matter to a token in the header: %s', async (_, headers) => {
    const postern = await startPostern()

    const answer = await postern.call('POST /api/v1/articles', {
      headers: [bearer, ...headers],
      body: '{}',
    })

    expect(answer.json()).toEqual({ ok: true })
  })
})

describe('a page of another site that its visitor has open', () => {
  const login = { perAddressPerMinute: 3, captchaPerAddressPerMinute: 3 }
  const drive = [
    ['POST /api/v1/login', ['Content-Type: text/plain', 'Sec-Fetch-Site: cross-site']],
    ['POST /api/v1/login', ['Content-Type: text/plain', 'Origin: https://evil.example']],
    ['GET /api/v1/getCaptcha', ['Sec-Fetch-Site: cross-site']],
  ] as const

  test.each(drive)('uses up no attempt of the visitor: %s', async (line, headers) => {
    const postern = await startPostern({ config: { ...dev, login } })
    const call = () => postern.call(line, { headers, ...(line.startsWith('P') && { body: '{}' }) })
    for (let time = 0; time < 3; time++)
      expect((await call()).json()).not.toMatchObject({ code: 429 })

    expect((await call()).json()).toMatchObject({ code: 429 })
    expect((await postern.call('GET /api/v1/getCaptcha')).json()).toMatchObject({ code: 200 })
    expect(await logIn(postern)).toEqual(expect.any(String))
  })
})

describe('our own origin', () => {
  const crossSite = createCrossSite([])

  test.each([
    ['https://a.test', 'a.test:443', true, true],
    ['http://a.test', 'a.test:80', false, true],
    ['https://a.test:8443', 'A.test:8443', true, true],
    ['https://[::1]:8443', '[::1]:8443', true, true],
    ['https://a.test', 'a.test:80', true, false],
    ['http://a.test', 'a.test', true, false],
    ['https://a.test', undefined, true, false],
  ])('%s at Host %s, encrypted %s: %s', (origin, host, encrypted, isOwn) => {
    const found = crossSite({
      headers: { origin, fetchSite: undefined },
      origin: { host, scheme: encrypted ? 'https' : 'http' },
    })

    expect(found === undefined).toBe(isOwn)
  })
})
