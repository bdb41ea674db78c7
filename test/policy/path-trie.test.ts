import { describe, expect, test } from 'vitest'
import { createPathTrieBuilder } from '../../src/policy/engine/tables/path-trie.ts'

function trieOf(patterns: readonly string[]) {
  const builder = createPathTrieBuilder()
  const numbers = new Map(patterns.map((pattern) => [builder.add(pattern), pattern]))
  const trie = builder.finish()
  return (path: string) => {
    const found: number[] = []
    const count = trie.match(path, found)
    return found.slice(0, count).flatMap((number) => numbers.get(number) ?? [])
  }
}

/** A path that counts how many of its characters are read. */
function countedPath(text: string) {
  let reads = 0
  const path = {
    length: text.length,
    charCodeAt(at: number) {
      reads++
      return text.charCodeAt(at)
    },
    startsWith(label: string, at: number) {
      reads += label.length
      return text.startsWith(label, at)
    },
  }
  return { path: path as unknown as string, reads: () => reads }
}

describe('a path trie', () => {
  const match = trieOf([
    '/',
    '/a',
    '/a/',
    '/a/b',
    '/a/:x',
    '/a/:x/c',
    '/a/*',
    '/ab*',
    '/abc*',
    '/*',
    '/:x/:y/',
  ])

  test.each([
    ['/', ['/', '/*']],
    ['/a', ['/a', '/*']],
    ['/a/', ['/a/', '/a/*', '/*']],
    ['/a/b', ['/a/b', '/a/:x', '/a/*', '/*']],
    ['/a/b/c', ['/a/:x/c', '/a/*', '/*']],
    ['/a/b/', ['/a/*', '/:x/:y/', '/*']],
    ['/a//c', ['/a/*', '/*']],
    ['/ab', ['/ab*', '/*']],
    ['/abcd/e', ['/ab*', '/abc*', '/*']],
    ['/b/c/', ['/:x/:y/', '/*']],
    ['a', []],
    ['', []],
  ])('finds in %j the patterns %j, the most specific first', (path, expected) => {
    expect(match(path)).toEqual(expected)
  })

  test('finds each of many thousand patterns, and only those', () => {
    const patterns = Array.from({ length: 20_000 }, (_, at) => `/n${at % 100}/m${at}`)
    const matchMany = trieOf(patterns)

    expect(patterns.filter((pattern) => matchMany(pattern).join() !== pattern)).toEqual([])
    expect(patterns.filter((pattern) => matchMany(`${pattern}x`).length > 0)).toEqual([])
  })

  // security.md T040: keyMatch2 took 1.1 s for 60 segments.
  test('reads a path of 3000 segments only as far as its patterns go', () => {
    const { path, reads } = countedPath(`/api/v1/${'a/'.repeat(3_000)}!`)
    const matchDeep = trieOf([
      '/api/v1/*',
      '/api/v1/:a/:b/:c/:d/:e/:f/x',
      '/api/v1/a/a/a*',
      '/api/:v/a/a/x',
    ])

    expect(matchDeep(path)).toEqual(['/api/v1/a/a/a*', '/api/v1/*'])
    expect(reads()).toBeLessThan(100)
  })

  test('visits each node at most once when every segment could be read in two ways', () => {
    const depth = 10
    const patterns = Array.from({ length: 2 ** depth }, (_, bits) =>
      Array.from({ length: depth }, (_, at) => ((bits >> at) & 1 ? '/a' : '/:x')).join(''),
    )
    const { path, reads } = countedPath(`${'/a'.repeat(depth)}`)

    expect(trieOf(patterns)(path)).toHaveLength(2 ** depth)
    // One letter and one slash or end read by hash, one letter by label, at each of the inner nodes.
    expect(reads()).toBeLessThanOrEqual(3 * 2 ** depth + 1)
  })

  test('looks for prefixes no further than the longest one', () => {
    const { path, reads } = countedPath(`/${'a'.repeat(5_000)}`)

    expect(trieOf(['/aaa*', '/b*'])(path)).toEqual(['/aaa*'])
    expect(reads()).toBeLessThan(5_000 + 20)
  })
})
