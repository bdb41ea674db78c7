import { describe, expect, test } from 'vitest'
import { formatModel } from '../../src/policy/set/format.ts'
import { widestModel } from '../policy/policy-text.ts'
import { folder, policy } from './policy-runner.ts'

const config = `
application: { mode: dev }
upstreams: { app: { targets: [http://127.0.0.1:9] } }
routes:
  - { path: /orders, upstream: app }
  - { path: /orders, upstream: app, hosts: [open.example.com], access: public, reason: A catalog. }
  - { path: /orders/search, match: exact, methods: [POST], upstream: app, access: authenticated }
  - { path: /admin, name: back-office, hosts: ['*.example.com'], upstream: app }
`
const files = {
  'config/postern.yaml': config,
  'policies/model.conf': formatModel(widestModel),
  'policies/policy.csv': `p, clerk, /orders/:id, GET, allow
p, clerk, /orders/search, POST, allow
p, lead, /admin/*, *, allow
`,
}

async function ask(args: readonly string[], more: Readonly<Record<string, string>> = {}) {
  return policy(args, { cwd: await folder({ ...files, ...more }) })
}

const note =
  'no host is given: only routes for any host count; routes with hosts (open.example.com, *.example.com) need --host'

describe('a question about a call', () => {
  test.each([
    ['--host', ['/admin/x', '--host', 'www.example.com']],
    ['a URL', ['https://www.example.com/admin/x']],
    ['another spelling', ['HTTPS://WWW.Example.com.:8443/admin/x']],
    ['both, if they agree', ['https://www.example.com/admin/x', '--host', 'WWW.example.com']],
  ])('is about the host of %s', async (_, target) => {
    const who = await ask(['who', 'GET', ...target])
    expect(who).toMatchObject({ code: 0, err: '' })
    expect(who.out).toContain('GET /admin/x: admin and 1 role may')
    expect(who.out).toContain('back-office (access permitted, upstream app)')
    const explain = await ask(['explain', 'lead', 'GET', ...target])
    expect(explain).toMatchObject({ code: 0, err: '' })
    expect(explain.out).toContain('back-office (access permitted')
  })

  test('says what it assumes without a host', async () => {
    for (const args of [
      ['who', 'GET', '/admin/x'],
      ['explain', 'lead', 'GET', '/admin/x'],
      ['can', 'lead'],
      ['matrix'],
      ['open'],
    ]) {
      const { out, err } = await ask(args)
      expect(out + err, args[0]).toContain(note)
    }
    const { out } = await ask(['who', 'GET', '/admin/x', '--output', 'json'])
    expect(JSON.parse(out)).toMatchObject({ isUnserved: true, route: null, notes: [note] })
  })

  test('assumes nothing if no route names a host', async () => {
    const plain = { 'config/postern.yaml': config.replaceAll(/^.*hosts:.*\n/gm, '') }
    const { out, err } = await ask(['who', 'GET', '/orders/7'], plain)
    expect(out + err).not.toContain('no host is given')
  })

  test.each([
    [['/x', '--host', 'a..b'], '--host: "a..b" is not a host'],
    [['https://user@api.example.com/x'], 'PATH: "user@api.example.com" is not a host'],
    [['https://a.test/x', '--host', 'b.test'], 'differ: give one'],
  ])('explains %j', async (target, words) => {
    const { code, err } = await ask(['who', 'GET', ...target])
    expect(code).toBe(2)
    expect(err).toContain(words)
  })
})

describe('lists', () => {
  test('of what a role can do name the routes of the host', async () => {
    const { out } = await ask(['can', 'lead', '--host', 'www.example.com'])
    expect(out).toContain('\nback-office (access permitted, upstream app)\n')
    const open = await ask(['can', 'clerk', '--host', 'open.example.com'])
    expect(open.out).toMatch(/without effect\n.*\/orders\/:id/)
  })

  test('of open routes show hosts, methods and exact paths', async () => {
    const { out } = await ask(['open', '--output', 'json'])
    const paths = JSON.parse(out).routes.map(({ path }: { readonly path: string }) => path)
    expect(paths).toEqual(['open.example.com/orders', 'POST =/orders/search'])
  })

  test('of operations name what serves them', async () => {
    const servedBy = async (host: string) => {
      const { out } = await ask(['matrix', '--host', host, '--output', 'json'])
      const { operations } = JSON.parse(out) as {
        readonly operations: readonly { readonly path: string; readonly servedBy: string[] }[]
      }
      return Object.fromEntries(operations.map((each) => [each.path, each.servedBy]))
    }
    expect(await servedBy('www.example.com')).toMatchObject({
      '/admin/*': ['back-office'],
      '/orders/:id': ['/orders'],
      '/orders/search': ['POST =/orders/search'],
    })
    expect(await servedBy('open.example.com')).toMatchObject({
      '/orders/:id': ['open.example.com/orders'],
    })
  })
})

describe('policy test', () => {
  const suite = (...lines: readonly string[]) => ({
    'policies/tests/x_test.yaml': lines.join('\n'),
  })

  test('asks for the host of a test', async () => {
    const { code, out } = await ask(
      ['test'],
      suite(
        '- { role: lead, method: GET, path: /admin/x, host: www.example.com, expect: allow, step: rule }',
        '- { anonymous: true, method: GET, path: /orders/7, host: open.example.com, expect: allow, step: route }',
        '- { anonymous: true, method: GET, path: /orders/7, expect: deny }',
      ),
    )
    expect(code).toBe(0)
    expect(out).toContain('3 passed')
  })

  test('names the host of a failing test, and explains a bad one', async () => {
    const line =
      '- { role: clerk, method: GET, path: /orders/7, host: open.example.com, expect: deny }'
    const failed = await ask(['test'], suite(line))
    expect(failed.code).toBe(4)
    expect(failed.out + failed.err).toContain(
      'clerk GET open.example.com/orders/7: expected deny, got allow by route',
    )
    const bad = await ask(['test'], suite(line.replace('open.example.com', 'Open.Example.com:80')))
    expect(bad.out + bad.err).toContain('must be a name in lower case without port')
  })
})

describe('policy check', () => {
  test('knows exact paths and methods of routes', async () => {
    const rules = `p, clerk, /orders/:id, GET, allow
p, clerk, /exact/below, GET, allow
p, clerk, /read/x, PUT, allow
p, clerk, /read/x, GET, allow
`
    const routes = `${config}  - { path: /exact, match: exact, upstream: app }
  - { path: /read, methods: [GET, HEAD], upstream: app }
`
    const { err } = await ask(['check', '--config', 'config/postern.yaml'], {
      'policies/policy.csv': rules,
      'config/postern.yaml': routes,
    })
    expect(err.match(/policy\.csv:\d.*no route serves.*/g)).toEqual([
      expect.stringMatching(/csv:2.*"\/exact\/below"/),
      expect.stringMatching(/csv:3.*"PUT \/read\/x": "GET,HEAD \/read" is for GET, HEAD only/),
    ])
  })
})
