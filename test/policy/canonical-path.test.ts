import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canonicalPath } from '../../src/policy/rule/canonical-path.ts'
import { corpusLines, corpusText } from '../support/corpora.ts'

/** Texts that look like paths: pieces that parsers are known to disagree on, and any characters. */
const piece = fc.oneof(
  fc.constantFrom(
    '/',
    '//',
    '.',
    '..',
    '%2e',
    '%2E',
    '%2f',
    '%5c',
    '%25',
    '%00',
    '%',
    ';',
    '\\',
    '#',
  ),
  fc.constantFrom(
    '%c0%ae',
    '%e4%bd%a0',
    '%ff',
    '%C2%80',
    'a',
    'A',
    '~',
    '+',
    '%2B',
    '%41',
    '%7e',
    ':',
    '@',
    '*',
  ),
  fc.string({ minLength: 1, maxLength: 3, unit: 'binary-ascii' }),
)
const pathLike = fc.array(piece, { maxLength: 12 }).map((pieces) => `/${pieces.join('')}`)

const seeds = [
  ...corpusLines(
    'payloads/Directory_Traversal_Intruder_directory_traversal.txt',
    'payloads/Directory_Traversal_Intruder_deep_traversal.txt',
    'payloads/CRLF_Injection_Files_crlfinjection.txt',
    'payloads/Open_Redirect_Intruder_Open-Redirect-payloads.txt',
    'payloads/Open_Redirect_Intruder_open_redirect_wordlist.txt',
    'payloads/Open_Redirect_Intruder_openredirects.txt',
  ),
  ...(
    JSON.parse(corpusText('wpt-url/urltestdata.json') ?? '[]') as (string | { input?: string })[]
  ).flatMap((one) => (typeof one === 'string' ? [] : [one.input ?? ''])),
].map((line) => [line.startsWith('/') ? line : `/${line}`] as [string])

const decode = (path: string) =>
  path.replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
const segments = (path: string) => path.split('/')

describe('a canonical path', () => {
  function holdsForEveryPath(property: (path: string) => void): void {
    const runs = Number(process.env['POSTERN_FUZZ_RUNS'] ?? 20_000)
    fc.assert(
      fc.property(pathLike, (raw) => {
        const path = canonicalPath(raw)
        if (path !== undefined) property(path)
      }),
      { numRuns: runs, examples: seeds },
    )
  }

  test('is canonical', () => {
    holdsForEveryPath((path) => expect(canonicalPath(path)).toBe(path))
  })

  test('keeps its segments under every further round of decoding', () => {
    holdsForEveryPath((path) => {
      const once = decode(path)
      expect(decode(once)).toBe(once)
      expect(segments(once)).toHaveLength(segments(path).length)
      for (const segment of segments(once)) expect(['.', '..']).not.toContain(segment)
    })
  })

  test('has nothing that some server takes for a separator, a parameter or an end', () => {
    holdsForEveryPath((path) => {
      expect(decode(path)).not.toMatch(/[\\;?#%\0-\x1f\x7f]/)
      expect(path).not.toContain('//')
      expect(path).toMatch(/^\/[\x21-\x7e]*$/)
    })
  })

  test('is valid UTF-8 once decoded', () => {
    holdsForEveryPath((path) => {
      expect(() => decodeURIComponent(path)).not.toThrow()
    })
  })

  test('has one spelling for each text', () => {
    holdsForEveryPath((path) => {
      // Encode everything that may be encoded: the canonical form must find its way back.
      const other = path.replace(/[A-Za-z0-9._~-]/g, (character, at: number) =>
        path[at - 1] === '%' || path[at - 2] === '%'
          ? character
          : `%${character.charCodeAt(0).toString(16)}`,
      )
      expect(canonicalPath(other)).toBe(path)
    })
  })
})

describe('canonicalPath', () => {
  test.each([
    ['/', '/'],
    ['/a/', '/a/'],
    ['/a/.b/..c/...', '/a/.b/..c/...'],
    ['/%61%2Eb', '/a.b'],
    ['/a%20b', '/a%20b'],
    ["/-._~!$&'()*+,=:@", "/-._~!$&'()*+,=:@"],
    ['/%21%24%26%27%28%29%2a%2c%3d%3a%40', "/!$&'()*,=:@"],
    ['/%2b+', '/%2B+'],
    ['/"<>[]^`{|}', '/%22%3C%3E%5B%5D%5E%60%7B%7C%7D'],
    ['/%f0%9f%98%80', '/%F0%9F%98%80'],
  ])('spells %s as %s', (raw, path) => {
    expect(canonicalPath(raw)).toBe(path)
  })

  test.each([
    '',
    'a',
    '*',
    'http://a/',
    '//',
    '/.',
    '/..',
    '/a/.',
    '/a/../b',
    '/%2e',
    '/a b',
    '/é',
    '/\u0000',
  ])('refuses %j', (raw) => {
    expect(canonicalPath(raw)).toBeUndefined()
  })
})
