import { execFileSync } from 'node:child_process'
import { open, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readOpenApi } from '../../src/openapi/document.ts'
import { documentFolder, problemsOf, read } from './documents.ts'

const head = 'openapi: 3.0.3\n'
const referring = (ref: string) => `${head}paths:\n  /a:\n    $ref: '${ref}'\n`

describe('a reference', () => {
  test.each([
    [
      'http://127.0.0.1:9/a.yaml',
      'is not a file in the folder of the document: copy the file into it',
    ],
    [
      'HTTPS://example.com/a.yaml#/a',
      'is not a file in the folder of the document: copy the file into it',
    ],
    ['file:///etc/hostname', 'is not a file in the folder of the document: copy the file into it'],
    ['//example.com/a.yaml', 'is not a file in the folder of the document: copy the file into it'],
    ['/etc/hostname', 'must be a relative path'],
    ['../../../../etc/hostname', 'leads outside the folder of the document: copy the file into it'],
    [
      '..%2f..%2f..%2fetc%2fhostname',
      'leads outside the folder of the document: copy the file into it',
    ],
    ['x/../../other.yaml', 'leads outside the folder of the document: copy the file into it'],
    ['.', 'leads outside the folder of the document: copy the file into it'],
    ['missing.yaml', 'does not exist'],
    ['a%00.yaml', 'is not a valid reference'],
    ['a%zz.yaml', 'is not a valid reference'],
    ['#anchor', 'must end in a JSON pointer, such as "#/components/pathItems/orders"'],
    ['#/constructor/prototype', 'leads to nothing'],
    ['#/__proto__', 'leads to nothing'],
    ['#/paths/~1a', 'is circular'],
  ])('to %s is one error with its line', async (ref, message) => {
    expect(await problemsOf(referring(ref))).toBe(
      `api.yaml:4:5: $ref ${JSON.stringify(ref)} ${message}`,
    )
  })

  test('through a symbolic link that leaves the folder is refused, and shows nothing', async () => {
    const folder = await documentFolder({ 'api.yaml': referring('link.yaml') })
    await symlink('/etc/hostname', join(folder, 'link.yaml'))
    const reading = readOpenApi({ path: join(folder, 'api.yaml'), name: 'api.yaml' })

    await expect(reading).rejects.toThrow(
      /^api\.yaml:4:5: \$ref "link\.yaml" leads outside the folder of the document: copy the file into it$/,
    )
  })

  test.each([
    ['out/hostname', '/etc'],
    ['out/missing/file', '/etc'],
    ['out', '/etc/missing'],
  ])('to %s does not tell what exists where a link leads', async (ref, target) => {
    const folder = await documentFolder({ 'api.yaml': referring(ref) })
    await symlink(target, join(folder, 'out'))
    const reading = readOpenApi({ path: join(folder, 'api.yaml'), name: 'api.yaml' })

    await expect(reading).rejects.toThrow(/leads outside the folder of the document/)
  })

  test('to a directory or a named pipe is refused', async () => {
    const folder = await documentFolder({ 'api.yaml': referring('pipe'), 'b/c.yaml': '' })
    execFileSync('mkfifo', [join(folder, 'pipe')])

    await expect(readOpenApi({ path: join(folder, 'api.yaml'), name: 'api.yaml' })).rejects.toThrow(
      /"pipe" is not a file$/,
    )
    await expect(readOpenApi({ path: join(folder, 'b'), name: 'b' })).rejects.toThrow(
      /^b: is a directory: name a file$/,
    )
  })

  test.each([
    [
      'of two that lead to each other',
      "/a: { $ref: '#/paths/~1b' }\n  /b: { $ref: '#/paths/~1a' }",
      2,
    ],
    [
      'of a long chain',
      Array.from({ length: 40 }, (_, at) => `/p${at}: { $ref: '#/paths/~1p${at + 1}' }`).join(
        '\n  ',
      ),
      40,
    ],
  ])('%s is an error, not a loop', async (_, paths, count) => {
    const lines = (await problemsOf(`${head}paths:\n  ${paths}\n`)).split('\n')

    expect(lines.length).toBeLessThanOrEqual(count)
    expect(lines[0]).toMatch(
      /\$ref "#\/paths\/~1\w+" (?:is circular|leads through too many others)$/,
    )
  })

  test('to a file that is not valid names that file', async () => {
    const files = { 'api.yaml': referring('b.yaml'), 'b.yaml': 'get: {}\nget: {}\n' }

    expect(await problemsOf(files)).toBe('b.yaml:2:1: duplicate key "get"')
  })
})

describe('a document that costs too much', () => {
  test('with aliases in aliases is refused', async () => {
    const levels = Array.from({ length: 9 }, (_, at) => {
      const items = at === 0 ? '"x"' : Array.from({ length: 9 }, () => `*a${at - 1}`).join(',')
      return `a${at}: &a${at} [${items}]`
    })
    const text = `${head}paths: {}\n${levels.join('\n')}\n`

    expect(await problemsOf(text)).toBe(
      'api.yaml:10:9: aliases expand to too much: write the repeated parts out',
    )
  })

  test('with a chain of aliases is refused at the same depth as without', async () => {
    const levels = Array.from({ length: 300 }, (_, at) => `a${at}: &a${at} [*a${at - 1}]`)
    const text = `${head}paths: {}\n${levels.join('\n').replace('*a-1', 'x')}\n`

    expect(await problemsOf(text)).toMatch(/^api\.yaml:\d+:\d+: nested more than 200 levels deep$/)
  })

  test('with many aliases takes no quadratic time', async () => {
    const anchors = Array.from({ length: 30_000 }, (_, at) => `  a${at}: &a${at} {}\n`).join('')
    const aliases = Array.from({ length: 30_000 }, (_, at) => `  b${at}: *a${at}\n`).join('')

    expect((await read(`${head}paths: {}\nx-a:\n${anchors}${aliases}`)).operations).toEqual([])
  })

  test.each([
    ['in what it repeats', 'x-a: &a [[*a]]', 'an alias must not be in what it repeats'],
    [
      'in a mapping that it merges',
      'x-a: &a { <<: *a }',
      'an alias must not be in what it repeats',
    ],
    ['before its anchor', 'x-a: [*a, &a x]', 'an alias needs an anchor before it'],
    ['of a text that is merged', 'x-a: &a x\nx-b: { <<: *a }', '"<<" must name mappings'],
  ])('with an alias %s is refused', async (_, lines, message) => {
    expect(await problemsOf(`${head}paths: {}\n${lines}\n`)).toContain(`: ${message}`)
  })

  test.each([
    ['flow lists', `${head}x-a: ${'['.repeat(1_000_000)}`],
    ['flow mappings', `${head}x-a: ${'{a: '.repeat(1_000_000)}`],
    ['block lists', `${head}x-a:\n  ${'- '.repeat(1_000_000)}x`],
    ['complex keys', `${head}x-a:\n  ${'? '.repeat(1_000_000)}x`],
    ['JSON', `{"x-a":${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}}`],
  ])('with %s in each other is refused', async (_, text) => {
    expect(await problemsOf(text)).toMatch(/^api\.yaml:\d+:\d+: nested more than 200 levels deep$/)
  })

  test('with many keys takes no quadratic time', async () => {
    const keys = Array.from({ length: 40_000 }, (_, at) => `  /p${at}: { get: }\n`).join('')

    expect((await read(`${head}paths:\n${keys}`)).operations).toHaveLength(40_000)
  })

  test('of 100 MB is refused without being read', async () => {
    const folder = await documentFolder({ 'api.yaml': head })
    const file = await open(join(folder, 'api.yaml'), 'r+')
    await file.truncate(100 * 1024 * 1024)
    await file.close()

    await expect(readOpenApi({ path: join(folder, 'api.yaml'), name: 'api.yaml' })).rejects.toThrow(
      /^api\.yaml: has 100 MB; at most 64 MB are read$/,
    )
  })

  test('of 17 MB of YAML is refused', async () => {
    const text = `${head}x-a: ${'a'.repeat(17 * 1024 * 1024)}\n`

    expect(await problemsOf(text)).toBe(
      'api.yaml: has 18 MB of YAML; at most 16 MB are read: convert it to JSON',
    )
  })
})

describe('a document that is wrong', () => {
  test.each([
    [
      '',
      'api.yaml:1:1: not an OpenAPI document: it has neither "openapi" nor "swagger" at the top',
    ],
    [
      'just text',
      'api.yaml:1:1: not an OpenAPI document: it has neither "openapi" nor "swagger" at the top',
    ],
    [
      'openapi: 4.0.0\n',
      'api.yaml:1:1: version "4.0.0" is not supported: use OpenAPI 2.0, 3.0 or 3.1',
    ],
    ['swagger: 1.2\n', 'api.yaml:1:1: version 1.2 is not supported: use OpenAPI 2.0, 3.0 or 3.1'],
    [head, 'api.yaml:1:1: paths is missing'],
    [`${head}paths: []\n`, 'api.yaml:2:1: paths must be a mapping'],
    [`${head}paths:\n  /a: 7\n`, 'api.yaml:3:3: a path item must be a mapping'],
    [`${head}paths:\n  /a:\n    get: 7\n`, 'api.yaml:4:5: an operation must be a mapping'],
    [`${head}paths:\n  orders: {}\n`, 'api.yaml:3:3: path "orders" must start with "/"'],
    [
      `${head}paths:\n  __proto__: { get: {} }\n`,
      'api.yaml:3:3: path "__proto__" must start with "/"',
    ],
    [`${head}paths:\n  constructor: {}\n`, 'api.yaml:3:3: path "constructor" must start with "/"'],
    [
      `${head}paths:\n  /a/{id: {}\n`,
      'api.yaml:3:3: path "/a/{id" has a "{" or "}" that is not part of a parameter such as {id}',
    ],
    [
      `{"openapi":"3.0.3","paths":{"/${'a'.repeat(1024)}":{}}}`,
      'api.yaml:1:29: path has 1025 characters; at most 1024 are allowed',
    ],
    [`${head}paths:\n  /a: {}\n  /a: {}\n`, 'api.yaml:4:3: duplicate key "/a"'],
    [`${head}security: 7\npaths: {}\n`, 'api.yaml:2:1: security must be a list of mappings'],
    [`${head}servers: 7\npaths: {}\n`, 'api.yaml:2:1: servers must be a list'],
    ['swagger: "2.0"\nbasePath: v1\npaths: {}\n', 'api.yaml:2:1: basePath must start with "/"'],
    [`${head}paths: {}\n---\n${head}`, 'api.yaml:3:1: more than one YAML document in a file'],
    [
      'a: [\n',
      'api.yaml:2:1: Flow sequence in block collection must be sufficiently indented and end with a ]',
    ],
    [`${head}paths: {}\n? [a]\n: b\n`, 'api.yaml:3:3: a key must be text'],
    ['{"openapi": "3.0.3", "paths": {}, "paths": {}}', 'api.yaml:1:35: duplicate key "paths"'],
  ])('%.60j is one line', async (text, line) => {
    expect(await problemsOf(text)).toBe(line)
  })

  test('as JSON says where', async () => {
    expect(await problemsOf({ 'api.json': '{"a":\n secret ' })).toMatch(
      /^api\.json:2:\d+: Flow map/,
    )
    expect(await problemsOf({ 'api.json': '{"a": {"b\\"": 1, "b\\u0022": 2}}' })).toBe(
      'api.json:1:18: duplicate key "b\\""',
    )
  })

  test('has at most a hundred problems', async () => {
    const paths = Array.from({ length: 250 }, (_, at) => `  p${at}: {}\n`).join('')
    const lines = (await problemsOf(`${head}paths:\n${paths}`)).split('\n')

    expect(lines).toHaveLength(101)
    expect(lines.at(-1)).toBe('api.yaml: and 150 more problems')
  })

  test('in another encoding is one line', async () => {
    expect(await problemsOf({ 'api.yaml': Buffer.from([0xff, 0xfe, 0x61, 0]) })).toBe(
      'api.yaml: is not UTF-8 text',
    )
  })

  test('has notes about what is ignored', async () => {
    const text = `${head}paths:\n  /a: { __proto__: {}, constructor: {}, gett: {}, GET: {} }\n`
    const { operations, notes } = await read(text)

    expect(operations).toEqual([])
    expect(notes.map(({ line, message }) => `${line}: ${message}`)).toEqual([
      '3: ignored: "__proto__" is not a method of OpenAPI',
      '3: ignored: "constructor" is not a method of OpenAPI',
      '3: ignored: "gett" is not a method of OpenAPI; did you mean get?',
      '3: ignored: "GET" is not a method of OpenAPI; did you mean get?',
    ])
  })
})
