import { describe, expect, test } from 'vitest'
import { checkOfLine, headersIn } from '../support/check-messages.ts'
import { grpcClient } from '../support/ext-authz.ts'
import { ask, askAbout, asked, contractNames, contracts } from '../support/forward-auth.ts'
import { navigation, startWithPage } from '../support/login-page.ts'
import { tokenOf } from '../support/tokens.ts'

const shop = 'https://shop.example'
/** As the client sees it; nginx and Envoy get a path. */
const addressOf = (contract: string, path: string) =>
  contract === 'traefik' ? `${shop}${path}` : path

describe.each(contractNames)('a browser behind a proxy that asks in the form of %s', (contract) => {
  const status = contract === 'nginx' ? 401 : 302
  const about = async (line: string, headers: readonly string[], as?: string) => {
    const postern = await startWithPage({ config: asked() })
    const question = as === undefined ? { headers } : { headers, as }
    return { postern, answer: await askAbout(postern, contract, line, question) }
  }

  test('goes to the login page, and back to the page that it opened', async () => {
    const { answer, postern } = await about('GET /orders/7?x=1&token=abc.def', navigation)

    const to = '/login?to=%2Forders%2F7%3Fx%3D1'
    expect([answer.status, answer.header('location')]).toEqual([status, addressOf(contract, to)])
    expect(answer.header('cache-control')).toBe('no-store')
    expect(postern.logText()).toMatch(/"outcome":"token-(?:missing|invalid)"/)
    expect(postern.upstream.bytes()).toBe(0)
  })

  test.each([
    ['without Fetch metadata', ['Accept: text/html,application/xhtml+xml,*/*;q=0.8']],
    ['with an expired cookie', [...navigation, 'Cookie: jwt=a.b.c']],
  ])('goes there %s', async (_, headers) => {
    const { answer } = await about('GET /orders', headers)

    const location = addressOf(contract, '/login?to=%2Forders')
    expect([answer.status, answer.header('location')]).toEqual([status, location])
  })

  test.each<[string, string, readonly string[], string | undefined, number]>([
    ['a program', 'GET /orders', ['Accept: application/json'], undefined, 401],
    ['curl', 'GET /orders', ['Accept: */*'], undefined, 401],
    [
      'a script',
      'GET /orders',
      ['Accept: text/html', 'X-Requested-With: XMLHttpRequest'],
      undefined,
      401,
    ],
    [
      'fetch',
      'GET /orders',
      ['Sec-Fetch-Mode: cors', 'Sec-Fetch-Dest: empty', 'Accept: text/html'],
      undefined,
      401,
    ],
    [
      'a frame',
      'GET /orders',
      ['Sec-Fetch-Mode: navigate', 'Sec-Fetch-Dest: iframe'],
      undefined,
      401,
    ],
    [
      'a WebSocket',
      'GET /orders',
      [...navigation, 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='],
      undefined,
      401,
    ],
    ['a script without permission', 'GET /api/v1/sys-user', [], 'editor', 403],
    ['an ambiguous path', 'GET /a/..;/b', navigation, undefined, 400],
  ])('%s gets the refusal as JSON', async (_, line, headers, as, refused) => {
    const { answer } = await about(line, headers, as)

    expect([answer.status, answer.header('location')]).toEqual([refused, undefined])
    expect(answer.json()).toMatchObject({ code: refused })
  })

  test.each([
    ['without permission', 'GET /api/v1/sys-user', 'editor', 403],
    ['after a form whose login has ended', 'POST /orders', undefined, 401],
    // The proxy does not route the login page to Postern: a redirect would never end.
    ['of the login page itself', 'GET /login', undefined, 404],
  ])('gets a page %s', async (_, line, as, refused) => {
    const { answer, postern } = await about(line, navigation, as)

    expect([answer.status, answer.header('location')]).toEqual([refused, undefined])
    expect(answer.header('content-type')).toBe('text/html; charset=utf-8')
    expect(answer.header('content-security-policy')).toMatch(/^default-src 'none'; style-src/)
    expect(answer.body).toContain(`${line}<`)
    if (as !== undefined) expect(answer.body).toContain('You are logged in as editor-user.')
    expect(answer.header('x-user-id')).toBeUndefined()
    expect(postern.logText()).toContain(`"status":${refused}`)
  })

  test('gets the refusal where there is no page', async () => {
    const postern = await startWithPage({
      config: { ...asked(), login: { page: { enabled: false } } },
    })

    const answer = await askAbout(postern, contract, 'GET /orders', { headers: navigation })

    expect([answer.status, answer.header('location')]).toEqual([401, undefined])
  })
})

describe('a browser behind an Envoy that checks over gRPC', () => {
  test('goes to the login page, a program does not', async () => {
    const postern = await startWithPage({ config: asked() })
    const { check } = grpcClient(postern)
    const headers = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }

    const browser = await check(checkOfLine('GET /orders?x=1', { headers }))
    const program = await check(checkOfLine('GET /orders?x=1'))

    expect(browser.status.code).toBe(16)
    expect(browser.ok_response).toBeUndefined()
    expect(browser.denied_response?.status).toMatchObject({ code: 302 })
    expect(headersIn(browser.denied_response?.headers)).toEqual({
      location: '/login?to=%2Forders%3Fx%3D1',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
    })
    expect(program.denied_response?.status).toMatchObject({ code: 401 })
    expect(headersIn(program.denied_response?.headers)['location']).toBeUndefined()
    expect(postern.logText()).toMatch(/"status":302.*"outcome":"token-missing"/)
  })
})

test('a browser without permission behind an Envoy that checks over gRPC gets a page', async () => {
  const postern = await startWithPage({ config: asked() })
  const { check } = grpcClient(postern)
  const headers = {
    'sec-fetch-mode': 'navigate',
    'sec-fetch-dest': 'document',
    'accept-language': 'zh',
    authorization: `Bearer ${tokenOf('editor')}`,
  }

  const { denied_response: denied } = await check(checkOfLine('GET /api/v1/sys-user', { headers }))

  expect(denied?.status).toMatchObject({ code: 403 })
  expect(headersIn(denied?.headers)).toMatchObject({ 'content-type': 'text/html; charset=utf-8' })
  expect(denied?.body).toContain('<h1>无法显示此页面</h1>')
  expect(postern.logText()).toMatch(/"status":403.*"outcome":"not-permitted"/)
})

/** What a client or a careless proxy could send instead of a path. */
const targets = [
  'https://evil.example/',
  'http://evil.example',
  'HTTPS://evil.example/a',
  'https:evil.example',
  'https:/evil.example',
  '//evil.example',
  '//evil.example/%2e%2e',
  '///evil.example',
  '////evil.example',
  '/\\evil.example',
  '/\\/evil.example',
  '\\\\evil.example',
  '\\/evil.example',
  '/%5cevil.example',
  '/%5C%5Cevil.example',
  '/%2fevil.example',
  '/%2F%2Fevil.example',
  '/%09/evil.example',
  '/%0a/evil.example',
  '/%0d%0aLocation:%20https://evil.example',
  '/%00/evil.example',
  '/..//evil.example',
  '/.//evil.example',
  '/a/..//evil.example',
  '/a/../..//evil.example',
  '/%2e%2e//evil.example',
  '/%2e//evil.example',
  '/..;//evil.example',
  '/;//evil.example',
  '/@evil.example',
  '@evil.example',
  '/:80@evil.example/',
  '.evil.example',
  'evil.example',
  ':evil.example',
  '?to=https://evil.example',
  '/?to=https://evil.example',
  '/?//evil.example',
  '/#//evil.example',
  '#//evil.example',
  'javascript:alert(1)',
  '/javascript:alert(1)',
  'data:text/html,x',
  'vbscript:x',
  'file:///etc/passwd',
  '/\u00e9//evil.example',
  '/%e2%80%ae//evil.example',
  '/%ff//evil.example',
  '/login?to=https://evil.example',
  '/%c0%af/evil.example',
  '/%E3%80%82evil.example',
  '/%EF%BC%8F/evil.example',
  '/%u002fevil.example',
  '/%252f%252fevil.example',
  '*',
  '/*//evil.example',
  '/<script>',
  '/"onload=x',
  `/${'a'.repeat(4000)}`,
  '/a?b=c&to=//evil.example&mode=json',
]

/** What could stand in X-Forwarded-Host and X-Forwarded-Proto of a proxy that passes them on. */
const origins: readonly (readonly [host: string, scheme: string])[] = [
  ['evil.example/', 'https'],
  ['shop.example@evil.example', 'https'],
  ['shop.example:x@evil.example', 'https'],
  ['evil.example#shop.example', 'https'],
  ['evil.example?shop.example', 'https'],
  ['evil.example\\shop.example', 'https'],
  ['shop.example, evil.example/', 'https'],
  ['shop.example:99999', 'https'],
  ['shop.example:', 'https'],
  ['//evil.example', 'https'],
  ['https://evil.example', 'https'],
  ['', 'https'],
  [' ', 'https'],
  ['.', 'https'],
  ['..', 'https'],
  ['[::1', 'https'],
  ['0x7f.1', 'https'],
  ['127.1', 'https'],
  ['evil%2eexample', 'https'],
  ['evil example', 'https'],
  ['shop.example', 'javascript'],
  ['shop.example', 'https://evil.example/?'],
  ['shop.example', 'data'],
  ['shop.example', ''],
  ['shop.example', 'https, javascript'],
]

describe('open redirects', () => {
  test.each(contractNames)('no target leads away from the host, as %s asks', async (contract) => {
    const postern = await startWithPage({ config: asked() })
    let named = 0
    for (const target of targets) {
      const form = contracts[contract]('GET', target)
      const headers = [...form.headers, ...navigation]
      const { header } = await ask(postern, form.line, { headers })
      const location = header('location')
      if (location === undefined) continue
      named++
      const page = new URL(location, `${shop}/seen`)
      expect([target, page.origin, page.pathname]).toEqual([target, shop, '/login'])
      const to = page.searchParams.get('to') ?? '/'
      expect([target, new URL(to, shop).origin]).toEqual([target, shop])
      expect([target, to]).toEqual([
        target,
        expect.not.stringMatching(/^(?:[/\\]{2}|[^/])|[\s\\#]/),
      ])
      // The page goes where it was told to go, and only on this host.
      const shown = await postern.call(`GET ${page.pathname}${page.search}`)
      expect([target, shown.status, shown.body]).toEqual([
        target,
        200,
        expect.not.stringMatching(/(?:href|action)="(?:[a-z]+:|[/\\]{2})/i),
      ])
    }
    expect(named).toBeGreaterThan(10)
  })

  test('a host or a scheme that no browser could have asked for is not named', async () => {
    const postern = await startWithPage({ config: asked() })
    for (const [host, scheme] of origins) {
      const headers = [
        ...['X-Forwarded-Method: GET', 'X-Forwarded-Uri: /orders'],
        ...[`X-Forwarded-Host: ${host}`, `X-Forwarded-Proto: ${scheme}`, ...navigation],
      ]
      const { header, status } = await ask(postern, 'GET /auth/traefik', { headers })
      const location = header('location')
      if (host === 'shop.example') {
        expect([scheme, location]).toEqual([
          scheme,
          expect.stringMatching(/^https?:\/\/shop\.example\/login\?to=%2Forders$/),
        ])
      } else expect([host, status, location]).toEqual([host, expect.any(Number), undefined])
    }
  })

  test('a host that is not served is never named', async () => {
    const { application, ...rest } = asked()
    const config = {
      ...rest,
      application: { ...application, hosts: ['shop.example', '*.shop.example'] },
    }
    const postern = await startWithPage({ config })
    const locationFor = async (host: string) => {
      const headers = [
        ...['X-Forwarded-Method: GET', 'X-Forwarded-Uri: /a', 'X-Forwarded-Proto: https'],
        ...[`X-Forwarded-Host: ${host}`, ...navigation],
      ]
      const answer = await ask(postern, 'GET /auth/traefik', { headers })
      return [answer.status, answer.header('location')]
    }
    const to = '/login?to=%2Fa'
    expect(await locationFor('shop.example')).toEqual([302, `https://shop.example${to}`])
    expect(await locationFor('EU.Shop.example:8443')).toEqual([
      302,
      `https://eu.shop.example:8443${to}`,
    ])
    for (const host of ['evil.example', 'shop.example.evil.example', 'evilshop.example']) {
      expect([host, ...(await locationFor(host))]).toEqual([host, 404, undefined])
    }
  })
})
