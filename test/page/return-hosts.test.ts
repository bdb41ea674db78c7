import { describe, expect, test } from 'vitest'
import { createReturns } from '../../src/admission/return-addresses.ts'
import { Invalid } from '../../src/kernel/errors.ts'
import { askAbout, asked, type ContractName, contractNames } from '../support/forward-auth.ts'
import { dev } from '../support/log-in.ts'
import {
  attribute,
  cookieOf,
  goodForm,
  navigation,
  nextOf,
  postForm,
  startWithPage,
} from '../support/login-page.ts'
import { strangers } from '../support/stranger-addresses.ts'
import { readTestConfig } from '../support/test-config.ts'

const page = {
  url: 'https://login.example.com/login',
  hosts: ['app.example.com', '*.eu.example.com'],
}
const cookie = { set: true, domain: 'example.com' }
const start = () => startWithPage({ config: { cookie, login: { page } } })

const friends: readonly (readonly [string, string])[] = [
  ['https://app.example.com', 'https://app.example.com/'],
  ['https://app.example.com/orders/7?x=1', 'https://app.example.com/orders/7?x=1'],
  ['HTTPS://APP.Example.com/Orders', 'https://app.example.com/Orders'],
  ['https://app.example.com:443/', 'https://app.example.com/'],
  ['https://app.example.com?a=//b', 'https://app.example.com/?a=//b'],
  ['https://app.example.com/a%2fb', 'https://app.example.com/a%2Fb'],
  ['https://de.eu.example.com/', 'https://de.eu.example.com/'],
  ['https://a.b.eu.example.com/', 'https://a.b.eu.example.com/'],
  ['https://login.example.com/profile', 'https://login.example.com/profile'],
  ['https://app.example.com/x?token=t&y=1', 'https://app.example.com/x?y=1'],
  ['https://app.example.com/x?t%6fken=t', 'https://app.example.com/x'],
  ['/orders?token=t', '/orders'],
]

const encoded = (to: string) => new URLSearchParams({ to }).toString()

describe('with login.page.hosts', () => {
  test('no address of a stranger is followed by the page, its form or its links', async () => {
    const postern = await start()
    expect(strangers.length).toBeGreaterThanOrEqual(60)
    for (const to of strangers) {
      const shown = await postern.call(`GET /login?${encoded(to)}`)
      const actions = shown.body.match(/(?:action|href)="[^"]*"/g)
      expect([to, actions?.filter((each) => /to=/.test(each))]).toEqual([to, []])
    }
  })

  test('nor by a login, the page of a logged-in caller or a logout', async () => {
    const postern = await startWithPage({ config: { ...dev, cookie, login: { page } } })
    for (const to of strangers) {
      const done = await postForm(postern, `/login?${encoded(to)}`, goodForm(postern))
      expect([to, done.status, nextOf(done)]).toEqual([to, 200, '/'])
      const session = `Cookie: ${cookieOf(done)}`
      const shown = await postern.call(`GET /login?${encoded(to)}`, { headers: [session] })
      const links = shown.body.match(/(?:action|href)="[^"]*"/g) ?? []
      expect([to, links.filter((link) => !/="\/(?!\/)/.test(link) || /to=/.test(link))]).toEqual([
        to,
        [],
      ])
      const sent = [session, 'Sec-Fetch-Site: same-origin']
      const left = await postForm(postern, `/login/logout?${encoded(to)}`, {}, sent)
      expect([to, left.status, left.header('location')]).toEqual([
        ...[to, 303, '/login?notice=logged-out'],
      ])
    }
  })

  test('addresses of the hosts are followed, in one spelling and without a token', async () => {
    const postern = await startWithPage({ config: { ...dev, cookie, login: { page } } })
    for (const [to, expected] of friends) {
      const shown = await postern.call(`GET /login?${encoded(to)}`)
      const action = new URL(attribute(shown.body, /action="([^"]*)"/), page.url)
      expect([to, action.searchParams.get('to')]).toEqual([to, expected])
      const failed = await postForm(postern, action.pathname + action.search, {
        ...goodForm(postern),
        // One that no attempt locks out.
        username: `user-${to.length}`,
      })
      expect([to, attribute(failed.body, /action="([^"]*)"/)]).toEqual([
        to,
        action.pathname + action.search,
      ])
    }
    const [[to, expected] = ['', '']] = friends.slice(1)
    const done = await postForm(postern, `/login?${encoded(to)}`, goodForm(postern))
    expect([done.status, nextOf(done)]).toEqual([200, expected])
  })

  test('nothing else is an address: strangers and friends as a function sees them', () => {
    const { read } = createReturns(page)
    for (const to of strangers) expect([to, read(to)]).toEqual([to, undefined])
    const none = createReturns({})
    for (const to of [...strangers, ...friends.map(([each]) => each)]) {
      if (!/^\/(?![/\\])/.test(to)) expect([to, none.read(to)]).toEqual([to, undefined])
    }
  })
})

const loginFor = (to?: string) => page.url + (to === undefined ? '' : `?${encoded(to)}`)

describe('with login.page.url, a browser without a login', () => {
  test.each([
    ['app.example.com', '/orders?x=1&token=a.b.c', 'https://app.example.com/orders?x=1'],
    ['APP.example.com:443', '/orders', 'https://app.example.com/orders'],
    ['de.eu.example.com', '/', 'https://de.eu.example.com/'],
    ['login.example.com', '/profile', '/profile'],
    ['evil.example', '/orders', undefined],
    ['example.com', '/orders', undefined],
    ['app.example.com@evil.example', '/orders', undefined],
  ])('of %s goes there from %s', async (host, path, to) => {
    const postern = await start()
    const answer = await postern.call(`GET ${path}`, { host, headers: navigation })
    if (answer.status === 400) expect(host).toContain('@')
    else expect([answer.status, answer.header('location')]).toEqual([302, loginFor(to)])
  })

  test.each<[ContractName, number]>(
    contractNames.map((name) => [name, name === 'nginx' ? 401 : 302]),
  )(
    'goes there through a proxy that asks in the form of %s, also one that reports http',
    async (contract, status) => {
      const postern = await startWithPage({ config: { ...asked(), cookie, login: { page } } })
      const ask = async (host: string, more: readonly string[] = []) => {
        const own = contract === 'traefik' ? [] : [`X-Forwarded-Host: ${host}`]
        const headers = [...own, ...more, ...navigation]
        const answer = await askAbout(postern, contract, 'GET /orders?x=1', { headers })
        return [answer.status, answer.header('location')]
      }
      // The form of Traefik in these tests names shop.example, which is none of the hosts.
      const expected = contract === 'traefik' ? undefined : 'https://app.example.com/orders?x=1'
      expect(await ask('app.example.com')).toEqual([status, loginFor(expected)])
      expect(await ask('evil.example')).toEqual([status, loginFor()])
      if (contract === 'nginx') {
        expect(await ask('app.example.com', ['X-Forwarded-Proto: http'])).toEqual([
          status,
          loginFor(expected),
        ])
      }
    },
  )
})

test('the page is shown on its host, also if all routes are for other hosts', async () => {
  const routes = [{ path: '/', upstream: 'backend', hosts: ['app.example.com'] }]
  const postern = await startWithPage({ routes, config: { cookie, login: { page } } })
  const statusAt = async (host: string, path: string) =>
    (await postern.call(`GET ${path}`, { host, headers: navigation, as: 'admin' })).status

  for (const path of ['/login', '/login/style.css']) {
    expect(await statusAt('login.example.com', path)).toBe(200)
    expect(await statusAt('other.example.com', path)).toBe(404)
  }
  expect(await statusAt('login.example.com', '/orders')).toBe(404)
  expect(postern.upstream.requests).toEqual([])
})

describe.each(contractNames)('a question in the form of %s', (contract) => {
  test('never leads to a stranger, whatever host and path the client names', async () => {
    const postern = await startWithPage({ config: { ...asked(), cookie, login: { page } } })
    // Bytes that a proxy would not pass on either are no headers.
    const sendable = strangers.filter((each) => /^[!-~]+$/.test(each) && each.length < 2000)
    expect(sendable.length).toBeGreaterThanOrEqual(60)
    let redirects = 0
    for (const stranger of sendable) {
      const host = stranger.replace(/^[a-z]*:?\/*/, '').replace(/\/.*$/, '')
      const named = [`X-Forwarded-Host: ${host}`]
      for (const [line, headers] of [
        [`GET /${stranger}`, []],
        [`GET /orders?to=${stranger}`, []],
        ['GET /orders', named],
      ] as const) {
        const own = contract === 'traefik' ? [] : headers
        const answer = await askAbout(postern, contract, line, { headers: [...own, ...navigation] })
        const location = answer.header('location')
        if (location === undefined) continue
        redirects++
        const at = new URL(location)
        const to = new URL(at.searchParams.get('to') ?? '/', at)
        expect([line, headers, at.origin + at.pathname]).toEqual([line, headers, page.url])
        expect([line, headers, to.host]).toEqual([
          ...[line, headers, expect.stringMatching(/^(?:login|app|[a-z.]+\.eu)\.example\.com$/)],
        ])
      }
    }
    expect(redirects).toBeGreaterThanOrEqual(60)
  })
})

type Settings = Readonly<Record<string, unknown>>

function problemsOf(changes: Settings, cookies: Settings = cookie, more: Settings = {}): string {
  try {
    const settings = { enabled: true, ...page, ...changes }
    readTestConfig({ cookie: cookies, login: { page: settings }, ...more })
    return ''
  } catch (error) {
    if (!(error instanceof Invalid)) throw error
    return error.problems.map(({ message }) => message).join('\n')
  }
}

test.each<[string, Settings, Settings, string]>([
  [
    'a page that is not on the domain',
    { url: 'https://login.other.com/login' },
    cookie,
    'login.page.url: login.other.com is not below cookie.domain (example.com)',
  ],
  [
    'a page on a host that only ends alike',
    { url: 'https://evilexample.com/login' },
    cookie,
    'is not below cookie.domain',
  ],
  [
    'a page without TLS',
    { url: 'http://login.example.com/login' },
    cookie,
    'must begin with https://',
  ],
  [
    'another path',
    { url: 'https://login.example.com/sign-in' },
    cookie,
    'must end with login.page.path (/login)',
  ],
  ['a query', { url: 'https://login.example.com/login?a=b' }, cookie, 'login.page.url'],
  ['a user', { url: 'https://a:b@login.example.com/login' }, cookie, 'login.page.url'],
  [
    'the port of the scheme',
    { url: 'https://login.example.com:443/login' },
    cookie,
    'write https://login.example.com/login',
  ],
  ['no domain', {}, { set: true }, 'login.page.hosts requires login.page.url and cookie.domain'],
  [
    'no url',
    { url: undefined },
    cookie,
    'login.page.hosts requires login.page.url and cookie.domain',
  ],
  [
    'a host outside the domain',
    { hosts: ['app.other.com'] },
    cookie,
    'login.page.hosts: "app.other.com" is not below cookie.domain',
  ],
  ['names outside the domain', { hosts: ['*.com'] }, cookie, '"*.com" is not below cookie.domain'],
  ['every name', { hosts: ['*'] }, cookie, 'login.page.hosts[0]'],
  ['a URL as host', { hosts: ['https://app.example.com'] }, cookie, 'login.page.hosts[0]'],
  [
    'a stranger afterward',
    { afterLogin: 'https://evil.example/' },
    cookie,
    'login.page.afterLogin',
  ],
])('config check rejects %s', (_, changes, cookies, message) => {
  expect(problemsOf(changes, cookies)).toContain(message)
})

test('config check accepts a page for one host, and for all hosts of a domain', () => {
  expect(problemsOf({})).toBe('')
  expect(problemsOf({ hosts: ['*.example.com'], afterLogin: 'https://app.example.com/' })).toBe('')
  expect(problemsOf({ hosts: undefined }, { set: true })).toBe('')
  const http = { url: 'http://login.example.com:8000/login' }
  expect(problemsOf(http, cookie, { application: { mode: 'dev' } })).toBe('')
})
