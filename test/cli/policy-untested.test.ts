import { readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { runCommand } from '../support/run-command.ts'
import { startPostern } from '../support/start-postern.ts'
import { folder, policy } from './policy-runner.ts'

const calls = [
  { method: 'GET', path: '/a/1', host: 'api.example.com', role: 'clerk' },
  { method: 'PUT', path: '/a/1', role: 'clerk' },
  { method: 'GET', path: '/a/b', role: 'nobody' },
  { method: 'GET', path: '/open/x' },
  { method: 'GET', path: '/exact', role: 'clerk' },
  { method: 'GET', path: '/nowhere', role: 'clerk' },
]
const routes = [
  { name: 'api', path: '/a', hosts: ['api.example.com'] },
  { name: 'www', path: '/a', hosts: ['www.example.com'] },
  { name: 'writes', path: '/a', methods: ['PUT'] },
  { name: 'reads', path: '/a', methods: ['GET'] },
  { name: 'below', path: '/a/b/c' },
  { name: 'exact', path: '/exact', match: 'exact' },
  { name: 'prefix', path: '/exact' },
  { name: 'open', path: '/open', access: 'public', reason: 'for a test' },
  { name: 'closed', path: '/open/closed' },
].map((route) => ({ ...route, upstream: 'backend', replacePrefix: `/${route.name}` }))

test('--routes lists the routes to which a running gateway takes no call of the tests', async () => {
  const postern = await startPostern({ rules: ['clerk, /a/*, *', 'clerk, /exact, GET'], routes })
  const tests = calls.map(({ role, ...call }) => ({
    ...(role === undefined ? { anonymous: true } : { role }),
    ...{ ...call, reason: 'for a test', expect: 'deny' },
    ...(role === 'nobody' && { withoutRules: true }),
  }))
  await mkdir(join(postern.policyDirectory, 'tests'))
  await writeFile(join(postern.policyDirectory, 'tests/all_test.yaml'), stringify(tests))
  const cwd = join(postern.policyDirectory, '..')
  const { out } = await runCommand(
    [...'policy test --routes --config postern.yaml --output json'.split(' ')],
    { cwd },
  )
  // Which route takes a call does not depend on the caller; a denied one would not arrive.
  for (const { method, path, host } of calls) {
    await postern.call(`${method} ${path}`, { as: 'admin', ...(host !== undefined && { host }) })
  }
  const arrived = postern.upstream.requests.map(({ target }) => target)
  const taken = new Set(arrived.map((target) => target.split('/')[1]))
  const untaken = routes.map(({ name }) => name).filter((name) => !taken.has(name))

  expect(arrived).toHaveLength(calls.length - 1)
  expect(untaken).toEqual(['www', 'below', 'prefix', 'closed'])
  expect(JSON.parse(out).untested).toEqual({
    ...{ routes: untaken, routeCount: routes.length, operations: [], operationCount: 0 },
  })
})

test('--routes lists the operations of policy.openapi that no test is about', async () => {
  const cwd = await folder({
    'postern.yaml': stringify({
      application: { mode: 'dev' },
      upstreams: { app: { targets: ['http://127.0.0.1:1'] } },
      routes: [
        { path: '/orders', upstream: 'app' },
        { path: '/menu', upstream: 'app' },
      ],
      policy: { openapi: ['api.yaml', 'missing.yaml'] },
    }),
    'api.yaml': stringify({
      ...{ openapi: '3.1.0', info: { title: 'x', version: '1' } },
      paths: {
        '/orders/{id}': { get: { operationId: 'one' }, put: { operationId: 'change' } },
        '/orders/open': { get: { operationId: 'open' } },
        '/orders/{id}.json': { get: { operationId: 'export' } },
      },
    }),
    'policies/model.conf': readFileSync('policies/model.conf', 'utf8'),
    'policies/policy.csv': 'p, clerk, /orders/*, GET\n',
    'policies/tests/a_test.yaml': stringify(
      ['/orders/7', '/orders/7.json'].map((path) => {
        return { role: 'clerk', method: 'GET', path, expect: 'allow', reason: 'for a test' }
      }),
    ),
  })
  const asked = ['test', '--routes', '--config', 'postern.yaml']
  const { code, out, err } = await policy(asked, { cwd })
  const plain = await policy(['test', '--config', 'postern.yaml'], { cwd })
  const { untested } = JSON.parse((await policy([...asked, '--output', 'json'], { cwd })).out)
  const document = parse(readFileSync(join(cwd, 'api.yaml'), 'utf8'))

  expect(code).toBe(0)
  expect(out.split('\n').slice(-5)).toEqual([
    'tested: 1/2 routes, 2/4 operations',
    '  no test: route /menu',
    expect.stringMatching(/^ {2}no test: api\.yaml:\d+: PUT \/orders\/\{id\}$/),
    expect.stringMatching(/^ {2}no test: api\.yaml:\d+: GET \/orders\/open$/),
    '',
  ])
  expect(err).toMatch(/^note: policy\.openapi: missing\.yaml/m)
  expect(plain.out).not.toContain('no test')
  expect(Object.keys(document.paths)).toHaveLength(3)
  expect(untested.operations.map((each: { operationId: string }) => each.operationId)).toEqual([
    ...['change', 'open'],
  ])
})
