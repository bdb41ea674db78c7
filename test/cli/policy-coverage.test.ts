import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { folder, policy } from './policy-runner.ts'

const config = `
application: { mode: dev }
upstreams: { app: { targets: [http://127.0.0.1:1] } }
routes:
  - { path: /api, upstream: app }
  - { path: /api/files, upstream: app, access: authenticated }
  - { path: /api/assets, upstream: app, access: public, reason: Everyone sees the logo. }
`
const openapi = `openapi: 3.0.3
servers: [{ url: https://example.com/api }]
security: [{ token: [] }]
paths:
  /orders:
    get: { operationId: listOrders }
  /orders/{id}:
    get: {}
    delete: {}
    trace: {}
  /files/{name}:
    get: {}
  /assets/{name}:
    get: {}
  /help:
    get: {}
    head: { security: [] }
`
const rules = `p, clerk, /api/orders, GET
p, clerk, /api/orders/:id, GET
p, clerk, /api/ordres/:id, DELETE
p, viewer, /api/orders/*, GET
`
const exclusions = `
- { method: GET, path: /api/help, reason: Everyone may read it. }
- { method: GET, path: /api/about, reason: Everyone may read it. }
`

async function project(files: Readonly<Record<string, string>> = {}): Promise<string> {
  return folder({
    'openapi.yaml': openapi,
    'config/postern.yaml': config,
    'policies/model.conf': await readFile('policies/model.conf', 'utf8'),
    'policies/policy.csv': rules,
    'policies/exclusions.yaml': exclusions,
    ...files,
  })
}

describe('policy coverage', () => {
  test('prints what deserves a look, the most severe first', async () => {
    const { code, out, err } = await policy(['coverage', 'openapi.yaml'], { cwd: await project() })

    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toBe(`1 operation declares security, but needs no token:
  openapi.yaml:14  GET  /api/assets/{name}  route /api/assets, access public
2 operations declare security, but need no permission: every valid token is enough:
  openapi.yaml:12  GET  /api/files/{name}  route /api/files, access authenticated
  openapi.yaml:16  GET  /api/help          exclusion policies/exclusions.yaml:2
1 operation is refused to every caller:
  openapi.yaml:10  TRACE  /api/orders/{id}  method-not-allowed
2 operations are for admin only:
  openapi.yaml:9   DELETE  /api/orders/{id}
  openapi.yaml:17  HEAD    /api/help
2 rules or exclusions match no operation:
  policies/policy.csv:3       clerk DELETE /api/ordres/:id  nearest: DELETE /api/orders/{id}
  policies/exclusions.yaml:3  exclusion GET /api/about
1 rule ends in "*":
  policies/policy.csv:4  viewer GET /api/orders/*  matches 1 operation
openapi.yaml: OpenAPI 3.0.3, 8 operations
policy: policies, r-${out.split('policies, r-')[1]?.slice(0, 32)}
8 operations: 2 for roles, 3 for everyone, 2 for admin only, 1 unreachable
`)
  })

  test('fails with --strict, and succeeds when every operation has callers', async () => {
    const cwd = await project({
      'good.json': '{"swagger":"2.0","basePath":"/api","paths":{"/orders":{"get":{}}}}',
    })

    const strict = await policy(['coverage', 'openapi.yaml', '--strict'], { cwd })
    expect(strict.code).toBe(1)
    expect(strict.out).toMatch(/\nstrict: 6 operations failed\n$/)
    expect((await policy(['coverage', 'good.json', '--strict'], { cwd })).code).toBe(0)
    const both = await policy(['coverage', 'good.json', 'openapi.yaml', '--strict'], { cwd })
    expect(both.code).toBe(1)
    expect(both.out).toContain('\n8 operations: ')
  })

  test('takes another base path, and hints at it when no operation has a route', async () => {
    const cwd = await project()
    const { out, err } = await policy(['coverage', 'openapi.yaml', '--base', '/'], { cwd })

    expect(out).toContain(
      '7 operations have no route: callers get 404:\n  openapi.yaml:6   GET     /orders\n',
    )
    expect(err).toBe('')
    const lost = await project({ 'openapi.yaml': openapi.replace('    trace: {}\n', '') })
    expect((await policy(['coverage', 'openapi.yaml', '--base', '/x/'], { cwd: lost })).err).toBe(
      'note: no operation has a route: if the paths lack their base path, give it with --base\n',
    )
    const wrong = await policy(['coverage', 'openapi.yaml', '--base', 'api'], { cwd })
    expect(wrong).toMatchObject({ code: 2, out: '' })
    expect(wrong.err).toMatch(/^postern: --base: "api" must start with "\/"\n/)
    const query = await policy(['coverage', 'openapi.yaml', '--base', '/api?x'], { cwd })
    expect(query).toMatchObject({ code: 2, out: '' })
    expect(query.err).toContain('--base: "/api?x" must be a path, without "?" and "#"')
  })

  test('prints all of it as JSON', async () => {
    const cwd = await project()
    const { code, out } = await policy(
      ['coverage', 'openapi.yaml', '--strict', '--output', 'json'],
      { cwd },
    )

    expect(code).toBe(1)
    const result = JSON.parse(out)
    expect(result).toMatchObject({
      ok: false,
      documents: [{ name: 'openapi.yaml', version: '3.0.3', operations: 8 }],
      prefixRules: [{ path: '/api/orders/*', method: 'GET', roles: ['viewer'], operations: 1 }],
      unmatched: [
        {
          by: 'rule',
          path: '/api/ordres/:id',
          nearest: { method: 'DELETE', path: '/api/orders/{id}' },
        },
        { by: 'exclusion', path: '/api/about', nearest: null },
      ],
      notes: [],
    })
    expect(result.operations).toHaveLength(8)
    expect(result.operations[0]).toEqual({
      method: 'GET',
      path: '/api/orders',
      operationId: 'listOrders',
      declaresSecurity: true,
      origin: { file: 'openapi.yaml', line: 6, column: 5 },
      access: [{ access: 'roles', example: '/api/orders' }],
      sampled: false,
    })
    expect(result.findings[1]).toMatchObject({
      kind: 'authenticated',
      failsStrict: true,
      path: '/api/files/{name}',
      values: 'all',
      detail: 'route /api/files, access authenticated',
    })
  })

  test.each(['sarif', 'markdown', 'junit', 'github'])(
    'prints %s for a pipeline',
    async (format) => {
      const cwd = await project()
      const { code, out } = await policy(['coverage', 'openapi.yaml', '--output', format], { cwd })

      expect(code).toBe(0)
      expect(out).toContain('is for admin only')
      if (format === 'sarif') {
        const [{ results }] = JSON.parse(out).runs
        expect(results[0]).toMatchObject({
          ruleId: 'operation-public',
          level: 'warning',
          locations: [
            {
              physicalLocation: {
                artifactLocation: { uri: 'openapi.yaml' },
                region: { startLine: 14, startColumn: 5 },
              },
            },
          ],
        })
      }
    },
  )

  test('reports invalid documents, each problem once, with exit code 3', async () => {
    const cwd = await project({
      'a.yaml': 'openapi: 3.0.3\npaths:\n  /a: { $ref: /etc/hostname }\n',
      'b.yaml': 'a: [\n',
    })
    const { code, out, err } = await policy(['coverage', 'a.yaml', 'b.yaml', 'c.yaml'], { cwd })

    expect({ code, out }).toEqual({ code: 3, out: '' })
    expect(err).toBe(`a.yaml:3:9: $ref "/etc/hostname" must be a relative path
b.yaml:2:1: Flow sequence in block collection must be sufficiently indented and end with a ]
c.yaml: does not exist
`)
  })

  test('escapes what documents contain', async () => {
    const cwd = await project({
      'openapi.yaml': 'openapi: 3.0.3\npaths: { "/api/\\e[31m": { get: {}, "\\e]0;x": {} } }\n',
    })
    const { out, err } = await policy(['coverage', 'openapi.yaml'], { cwd })

    expect(out + err).not.toContain('\u001b')
    expect(out).toContain('/api/\\u{1b}[31m')
    expect(err).toContain('is not a method of OpenAPI')
  })

  test('needs a document', async () => {
    expect((await policy(['coverage'])).err).toMatch(/^postern: missing argument DOCUMENT\n/)
    expect((await policy(['coverage', 'a.yaml', ''])).err).toMatch(
      /^postern: argument DOCUMENT is empty\n/,
    )
  })

  test('describes the sample service as the shipped policy treats it', async () => {
    const { code, out } = await policy(['coverage', 'samples/orders/openapi.yaml'])

    expect(code).toBe(0)
    expect(out).toMatch(/^1 operation is for admin only:\n.+ DELETE {2}\/api\/v1\/orders\/\{id\}\n/)
    expect(out).toMatch(
      /\n5 operations: 4 for roles, 0 for everyone, 1 for admin only, 0 unreachable\n$/,
    )
  })
})
