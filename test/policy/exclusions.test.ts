import { describe, expect, test } from 'vitest'
import { policyFiles, policySet, problemsOf } from './policy-text.ts'

const entry = (method: string, path: string, reason = 'a reason') =>
  `- method: ${method}\n  path: ${path}\n  reason: ${reason}\n`
const linesOf = (exclusions: string) =>
  problemsOf(policyFiles({ exclusions })).map(({ file, line }) => `${file}:${line}`)

describe('the exclusion list', () => {
  test('holds method, path, reason and line of each entry', () => {
    const exclusions = `# public\n${entry('POST', '/api/v1/logout')}\n${entry('GET', '/api/v1/configKey/:key', 'no')}`

    expect(policySet({ exclusions }).exclusions).toEqual([
      {
        method: 'POST',
        path: '/api/v1/logout',
        reason: 'a reason',
        origin: { file: 'exclusions.yaml', line: 2 },
      },
      {
        method: 'GET',
        path: '/api/v1/configKey/:key',
        reason: 'no',
        origin: { file: 'exclusions.yaml', line: 6 },
      },
    ])
  })

  test.each([
    ['is missing', undefined],
    ['is empty', ''],
    ['has only comments', '# none\n'],
    ['is an empty list', '[]\n'],
  ])('may hold nothing: it %s', (_, exclusions) => {
    const files = policyFiles({ exclusions: exclusions ?? '' })
    const given = exclusions === undefined ? files.slice(0, 2) : files

    expect(problemsOf(given)).toEqual([])
  })

  test.each([
    ['no reason', '- method: GET\n  path: /a\n'],
    ['an empty reason', entry('GET', '/a', '')],
    ['a reason of spaces', entry('GET', '/a', '"  "')],
    ['no method', '- path: /a\n  reason: why\n'],
    ['every method', entry('"*"', '/a')],
    ['a method in lower case', entry('get', '/a')],
    ['an unknown method', entry('FETCH', '/a')],
    ['no path', '- method: GET\n  reason: why\n'],
    ['everything below', entry('GET', '/api/v1/public/*')],
    ['everything', entry('GET', '"*"')],
    ['a prefix', entry('GET', '/api/v1/pub*')],
    // Spec, Authentication 6: these would open business endpoints to every role.
    ['any resource', entry('GET', '/api/v1/:resource')],
    ['any resource and its parts', entry('GET', '/api/v1/:resource/:id')],
    ['any first segment', entry('GET', '/:anything')],
    ['any resource of a version', entry('GET', '/v2/:resource/profile')],
    ['a malformed path', entry('GET', '/api/v1/user/:')],
    ['a path that can never match', entry('GET', '/api//user')],
    ['an unknown key', `${entry('GET', '/a')}  role: editor\n`],
    ['a key twice', `${entry('GET', '/a')}  path: /b\n`],
    ['a list for a path', '- method: GET\n  path: [/a, /b]\n  reason: why\n'],
    ['an alias', '- method: &m GET\n  path: /a\n  reason: *m\n'],
    ['a text for an entry', '- GET /a\n'],
    ['a map instead of a list', 'method: GET\npath: /a\nreason: why\n'],
    ['two documents', `${entry('GET', '/a')}---\n${entry('GET', '/b')}`],
    ['broken YAML', '- method: "GET\n'],
    ['brackets without end', '['.repeat(20_000)],
    ['lists without end', '- '.repeat(20_000)],
  ])('is refused with %s', (_, exclusions) => {
    const places = linesOf(exclusions)

    expect(places).not.toEqual([])
    expect(places.every((place) => place.startsWith('exclusions.yaml:'))).toBe(true)
  })

  test('has a line for each of its problems', () => {
    const exclusions =
      entry('GET', '/ok') + entry('get', '/a/*') + entry('GET', '/ok2') + entry('GET', '/b', '')

    expect(linesOf(exclusions)).toEqual([
      'exclusions.yaml:4',
      'exclusions.yaml:4',
      'exclusions.yaml:10',
    ])
  })
})
