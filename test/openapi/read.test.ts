import { describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { callsOf, problemsOf, read } from './documents.ts'

const paths = {
  '/orders': { get: { operationId: 'list' }, post: {} },
  '/orders/{id}': { get: {}, delete: null },
}

describe('an OpenAPI document', () => {
  test.each([
    ['2.0', { swagger: '2.0', basePath: '/api/v1', paths }],
    ['3.0', { openapi: '3.0.3', servers: [{ url: 'https://example.com/api/v1/' }], paths }],
    ['3.1', { openapi: '3.1.0', servers: [{ url: '/api/v1' }], paths }],
  ])('of version %s has the same operations as JSON and as YAML', async (_, document) => {
    const text = JSON.stringify(document, undefined, 2)
    const expected = [
      'GET /api/v1/orders',
      'POST /api/v1/orders',
      'GET /api/v1/orders/{id}',
      'DELETE /api/v1/orders/{id}',
    ]

    expect(await callsOf({ 'api.json': text })).toEqual(expected)
    expect(await callsOf(stringify(document))).toEqual(expected)
  })

  test('tells the place of each operation, in both formats', async () => {
    const yaml = 'openapi: 3.0.3\npaths:\n  /a:\n    get:\n      operationId: list\n'
    const json =
      '{\n "openapi": "3.0.3",\n "paths": { "/a": {\n  "get": { "operationId": "list" } } } }'

    expect((await read(yaml)).operations).toEqual([
      {
        method: 'GET',
        path: '/a',
        operationId: 'list',
        declaresSecurity: false,
        origin: { file: 'api.yaml', line: 4, column: 5 },
      },
    ])
    expect((await read({ 'api.json': json })).operations[0]?.origin).toEqual({
      file: 'api.json',
      line: 4,
      column: 3,
    })
  })

  test('may have a byte order mark, no paths in 3.1, extensions, anchors and merge keys', async () => {
    expect(await callsOf('\uFEFFopenapi: 3.1.0\nwebhooks: {}\n')).toEqual([])
    const text = `
openapi: 3.0.3
x-common: &common
  get: {}
paths:
  x-internal: { get: {} }
  /a: { <<: *common, x-y: 1, summary: text, parameters: [] }
  /b: *common
`
    expect(await callsOf(text)).toEqual(['GET /a', 'GET /b'])
  })

  test('of version 3.2 has the method QUERY and methods by their own name', async () => {
    const text = 'openapi: 3.2.0\npaths:\n  /a: { query: {}, additionalOperations: { COPY: {} } }\n'

    expect(await callsOf(text)).toEqual(['QUERY /a', 'COPY /a'])
  })

  test('names operations without query and fragment, each once', async () => {
    const text = 'openapi: 3.0.3\npaths:\n  /a?b=1: { get: {} }\n  /a#c: { get: {} }\n'

    expect(await callsOf(text)).toEqual(['GET /a'])
  })
})

describe('the security of an operation', () => {
  test.each([
    ['', '', false],
    ['security: [{ key: [] }]', '', true],
    ['security: [{ key: [] }]', 'security: []', false],
    ['security: [{ key: [] }]', 'security: [{}]', false],
    ['security: [{ key: [] }]', 'security: [{ key: [] }, {}]', false],
    ['security: []', 'security: [{ key: [], other: [] }]', true],
    ['', 'security: [{ key: [] }]', true],
  ])('of the document %j and the operation %j is %j', async (global, own, expected) => {
    for (const version of ['swagger: "2.0"', 'openapi: 3.0.3', 'openapi: 3.1.0']) {
      const text = `${version}\n${global}\npaths:\n  /a:\n    get:\n      summary: text\n      ${own}\n`
      expect((await read(text)).operations[0]?.declaresSecurity).toBe(expected)
    }
  })
})

describe('base paths', () => {
  const servers = (...urls: string[]) => `openapi: 3.0.3
servers: [${urls.map((url) => `{ url: '${url}' }`).join(', ')}]
paths: { /a: { get: {} } }
`

  test.each([
    [
      ['https://a.example/v1', 'https://b.example/v1/', 'http://c.example/v2?x'],
      ['/v1', '/v2'],
    ],
    [['https://a.example'], ['']],
    [['/'], ['']],
    [['//a.example/v1'], ['/v1']],
    [['https://{host}/v1'], ['/v1']],
    [['{scheme}://{host}:{port}/v1'], ['/v1']],
  ])('of servers %j are %j', async (urls, bases) => {
    expect(await callsOf(servers(...urls))).toEqual(bases.map((base) => `GET ${base}/a`))
  })

  test('come from the nearest servers, with the defaults of their variables', async () => {
    const text = `
openapi: 3.0.3
servers:
  - { url: 'https://a.example/{version}', variables: { version: { default: v1 } } }
paths:
  /a: { get: {} }
  /b:
    servers: [{ url: /b-items }]
    get: {}
    put: { servers: [{ url: /own }, { url: /other }] }
  /c: { servers: [], get: {} }
`
    expect(await callsOf(text)).toEqual([
      'GET /v1/a',
      'GET /b-items/b',
      'PUT /own/b',
      'PUT /other/b',
      'GET /v1/c',
    ])
    expect(await callsOf(text, { base: '/x' })).toEqual([
      'GET /x/a',
      'GET /x/b',
      'PUT /x/b',
      'GET /x/c',
    ])
  })

  test('that depend on the address of the document need --base', async () => {
    expect(await problemsOf(servers('v1'))).toBe(
      'api.yaml:2:11: server "v1" is relative to the address of the document: give the path with --base',
    )
    expect(await callsOf(servers('v1'), { base: '' })).toEqual(['GET /a'])
    const { operations, notes } = await read(servers('v1', '/v2'))
    expect(operations.map(({ path }) => path)).toEqual(['/v2/a'])
    expect(notes[0]?.message).toMatch(/^ignored: server "v1" is relative /)
    expect(await problemsOf(servers('/{tenant}/v1'))).toBe(
      'api.yaml:2:11: server "/{tenant}/v1": a variable in its path has no default',
    )
  })
})

describe('references', () => {
  test('lead to path items and operations in the document and in files of its folder', async () => {
    const files = {
      'api.yaml': `
openapi: 3.1.0
paths:
  /a: { $ref: '#/components/pathItems/a~1b%20c' }
  /b: { $ref: 'parts/b.json', delete: {} }
  /c: { get: { $ref: './parts/c%20d.yaml#/list' } }
components:
  pathItems:
    a/b c: { get: {}, post: {} }
`,
      'parts/b.json': '{ "get": {}, "put": { "$ref": "c d.yaml#/list" } }',
      'parts/c d.yaml': "list: { $ref: '../api.yaml#/components/pathItems/a~1b%20c/get' }\n",
    }

    expect(await callsOf(files)).toEqual([
      'GET /a',
      'POST /a',
      'DELETE /b',
      'GET /b',
      'PUT /b',
      'GET /c',
    ])
    const { operations } = await read(files)
    expect(operations[3]?.origin).toEqual({ file: 'parts/b.json', line: 1, column: 3 })
  })

  test('may lead to all paths at once', async () => {
    const files = {
      'api.yaml': 'openapi: 3.0.3\npaths: { $ref: paths.yaml }\n',
      'paths.yaml': '/a: { get: {} }\n',
    }
    expect(await callsOf(files)).toEqual(['GET /a'])
  })
})
