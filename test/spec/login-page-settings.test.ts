import { expect, test } from 'vitest'
import { Invalid } from '../../src/kernel/errors.ts'
import { readTestConfig } from '../support/test-config.ts'

type Settings = Readonly<Record<string, unknown>>

function problemsOf(page: Settings, more: Settings = {}): readonly string[] {
  try {
    readTestConfig({ cookie: { set: true }, login: { page: { enabled: true, ...page } }, ...more })
    return []
  } catch (error) {
    if (!(error instanceof Invalid)) throw error
    return error.problems.map(({ message }) => message)
  }
}

test.each<[string, Settings, string]>([
  ['the first page of the application', { path: '/' }, 'login.page.path: "/" would hide'],
  ['the API of Postern', { path: '/api/v1/login' }, 'is reserved: /api/v1/login is an endpoint'],
  ['a path below it', { path: '/api/v1/login/page' }, 'is reserved'],
  ['a path in other letters', { path: '/API/v1/Login' }, 'is reserved'],
  ['a path that is not canonical', { path: '/a/../login' }, 'login.page.path'],
  ['a path with a query', { path: '/login?x=1' }, 'login.page.path'],
  ['another host afterward', { afterLogin: '//evil.example' }, 'login.page.afterLogin'],
  ['an address afterward', { afterLogin: 'https://evil.example/' }, 'login.page.afterLogin'],
  ['an empty title', { title: '' }, 'login.page.title'],
])('a login page with %s is refused', (_, settings, message) => {
  expect(problemsOf(settings).join('\n')).toContain(message)
})

test('a login page requires the cookie', () => {
  const [problem] = problemsOf({}, { cookie: { set: false } })
  expect(problem).toContain('login.page.enabled is true, so cookie.set must be true')
})

test('pages for people require the login page, which serves them', () => {
  const pages = { contact: 'help@shop.example', directory: './pages' }

  expect(problemsOf({}, { pages })).toEqual([])
  expect(problemsOf({ enabled: false }, { pages })).toEqual([
    expect.stringContaining('pages.contact needs login.page.enabled: true'),
    expect.stringContaining('pages.directory needs login.page.enabled: true'),
  ])
  expect(problemsOf({}, { pages: { contact: ' ' } })).toEqual([
    expect.stringContaining('pages.contact'),
  ])
})

test('a route must not cover the login page', () => {
  const problems = problemsOf({}, { routes: [{ path: '/login', upstream: 'backend' }] })
  expect(problems.join('\n')).toContain('/login')
})

test('a good login page has no problem, and one that is off is not checked', () => {
  expect(problemsOf({})).toEqual([])
  expect(problemsOf({ path: '/sign-in', afterLogin: '/orders?tab=2', title: 'Orders' })).toEqual([])
  expect(problemsOf({ enabled: false, path: '/' }, { cookie: { set: false } })).toEqual([])
})
