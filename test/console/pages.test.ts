import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { addressOf, parseAddress } from '../../console/src/address.ts'
import { matchingChoices } from '../../console/src/lib/choices.ts'
import { toCsv } from '../../console/src/lib/csv.ts'
import { movedCell } from '../../console/src/lib/grid-keys.ts'
import { exampleCall, shownOperations, shownRoles } from '../../console/src/lib/matrix-filters.ts'
import { formatNumber } from '../../console/src/lib/numbers.ts'
import { highestMark, linesOf } from '../../console/src/lib/plot.ts'
import { plural } from '../../console/src/lib/plural.ts'
import { policyTest } from '../../console/src/lib/policy-test.ts'
import { lineOf } from '../../console/src/lib/rule-line.ts'
import { nextSorting, sorted } from '../../console/src/lib/sorting.ts'
import { formatClock, formatDate, formatTime } from '../../console/src/lib/times.ts'
import { revealOffset, windowOf } from '../../console/src/lib/window.ts'
import { parseTestFile } from '../../src/policy/expectations/test-file.ts'

const built = 'dist/pages'
const files = readdirSync(built, { recursive: true, encoding: 'utf8' })
const gzipped = (names: readonly string[]) =>
  names.reduce((sum, name) => sum + gzipSync(readFileSync(join(built, name))).length, 0)

/** The names in a built script that a pattern finds. */
function namesIn(name: string, pattern: RegExp): readonly string[] {
  const found = readFileSync(join(built, name), 'utf8').matchAll(pattern)
  return [...found].map(([, file = '']) => `assets/${file}`)
}

/** Some files with all that they import before they run. */
function withImports(names: readonly string[], known = new Set<string>()): ReadonlySet<string> {
  for (const name of names) {
    if (known.has(name)) continue
    known.add(name)
    withImports(namesIn(name, /(?:from|import)\s*["'`]\.\/([^"'`]+\.js)/g), known)
  }
  return known
}

describe('the built pages', () => {
  test('load nothing from elsewhere and have no script or style in the markup', () => {
    const html = readFileSync(join(built, 'index.html'), 'utf8')

    expect(html).not.toMatch(/https?:|<style|style=|\son\w+=|<script(?![^>]*\bsrc=)/)
    expect(files).toContain('favicon.svg')
    for (const [, name = ''] of html.matchAll(/(?:src|href)="\.\/([^"]+)"/g)) {
      expect(files).toContain(name)
    }
  })

  test('have hashed names, so that browsers may keep them', () => {
    const assets = files.filter((name) => name.startsWith('assets/'))

    expect(assets.length).toBeGreaterThan(3)
    expect(assets.filter((name) => !/-[\w-]{8}\.(?:js|css)$/.test(name))).toEqual([])
  })

  test('are at most 250 KB of script and style, 60 KB of them for any page that loads first', () => {
    const code = files.filter((name) => /\.(?:js|css)$/.test(name))
    const html = readFileSync(join(built, 'index.html'), 'utf8')
    const entries = code.filter((name) => html.includes(name))
    const pages = entries.flatMap((name) => namesIn(name, /import\([`'"]\.\/([^`'"]+\.js)/g))

    expect(gzipped(code)).toBeLessThan(250_000)
    expect(pages.length).toBeGreaterThan(4)
    for (const page of pages) {
      expect(gzipped([...withImports([...entries, page])]), page).toBeLessThan(60_000)
    }
  })
})

describe('an address', () => {
  test.each([
    ['', { page: '', query: {} }],
    ['#/', { page: '', query: {} }],
    ['#/can', { page: 'can', query: {} }],
    ['#/can/?role=a%20b&path=/x', { page: 'can', query: { role: 'a b', path: '/x' } }],
    ['#/who?path=/a%3Fb%3D1&method=GET', { page: 'who', query: { path: '/a?b=1', method: 'GET' } }],
  ])('%s names a page and its query', (hash, address) => {
    expect(parseAddress(hash)).toEqual(address)
  })

  test('comes back as it was given, whatever a name contains', () => {
    const query = { role: '<b>&"=?#/ %2F+é', path: '/a b/%2F?x=1&y=2' }

    expect(parseAddress(addressOf('can', query))).toEqual({ page: 'can', query })
    expect(addressOf('can', { path: '/api/v1/orders', host: undefined, revision: '' })).toBe(
      '#/can?path=/api/v1/orders',
    )
  })
})

describe('windowing', () => {
  const list = { size: 20, count: 2000, beyond: 2 }

  test.each([
    [0, 100, 0, 7],
    [1000, 100, 48, 57],
    [1005, 100, 48, 58],
    [39_950, 100, 1995, 2000],
    [99_999, 100, 2000, 2000],
    [-50, 100, 0, 7],
    [0, 0, 0, 2],
  ])('at %d with %d pixels shows rows %d to %d', (offset, extent, from, to) => {
    expect(windowOf(offset, extent, list)).toEqual({ from, to })
  })

  test('shows nothing of nothing', () => {
    expect(windowOf(0, 500, { size: 20, count: 0 })).toEqual({ from: 0, to: 0 })
  })

  test('scrolls to an item by the shortest way', () => {
    expect(revealOffset(3, 100, 200, 20)).toBe(60)
    expect(revealOffset(20, 100, 200, 20)).toBe(220)
    expect(revealOffset(10, 100, 200, 20)).toBe(100)
  })
})

describe('a table', () => {
  const rows = [{ n: 'b10' }, { n: 'a' }, { n: undefined }, { n: 'b9' }]
  const values = (isDescending: boolean) =>
    sorted(rows, ({ n }) => n, isDescending).map(({ n }) => n)

  test('sorts numbers in texts by value, and what has no value last', () => {
    expect(values(false)).toEqual(['a', 'b9', 'b10', undefined])
    expect(values(true)).toEqual(['b10', 'b9', 'a', undefined])
  })

  test('turns its order round at the second click', () => {
    const once = nextSorting(undefined, 'a')

    expect(once).toEqual({ column: 'a', isDescending: false })
    expect(nextSorting(once, 'a')).toEqual({ column: 'a', isDescending: true })
    expect(nextSorting(once, 'b')).toEqual({ column: 'b', isDescending: false })
  })

  test('becomes CSV that no spreadsheet evaluates', () => {
    expect(
      toCsv([
        ['role', 'n'],
        ['=1+1', 3],
        ['@x', -2],
        ['-a', 0],
        ['+b', 1],
        ['\tc', 1],
        [' =g', 1],
        ['\uff1dh', 1],
        ['d, "e"\nf', 1],
      ]),
    ).toBe(
      `role,n\r\n'=1+1,3\r\n'@x,-2\r\n'-a,0\r\n'+b,1\r\n'\tc,1\r\n' =g,1\r\n'\uff1dh,1\r\n"d, ""e""\nf",1\r\n`,
    )
  })
})

describe('the matrix', () => {
  const served = { servedBy: [], isFixedResponse: false, isExact: true }
  const answer = {
    roles: ['admin', 'clerk', 'lead'],
    cells: { m: 'admin', a: 'allowed', d: 'denied', '-': 'no', e: 'everyone' },
    operations: [
      { method: 'GET', path: '/orders', access: ['permitted'], cells: 'ma-', ...served },
      { method: 'DELETE', path: '/orders/:id', access: ['permitted'], cells: 'md-', ...served },
      { method: 'POST', path: '/login', access: ['endpoint'], cells: 'eee', ...served },
    ],
  } as const
  const shown = (view: 'all' | 'admin' | 'everyone', words = '') =>
    shownOperations(answer, view, words).map(({ path }) => path)

  test('filters operations by who may, and by words', () => {
    expect(shown('all')).toHaveLength(3)
    expect(shown('admin')).toEqual(['/orders/:id'])
    expect(shown('everyone')).toEqual(['/login'])
    expect(shown('all', 'delete ORDERS')).toEqual(['/orders/:id'])
  })

  test('filters roles by any of the words, and keeps the places of their letters', () => {
    expect(shownRoles(answer.roles, 'lead admin')).toEqual([
      { role: 'admin', place: 0 },
      { role: 'lead', place: 2 },
    ])
    expect(shownRoles(answer.roles, ' ')).toHaveLength(3)
  })

  test('asks about a call that the operation stands for', () => {
    expect(exampleCall({ method: '*', path: '/a/:id/b/*' })).toEqual({
      method: 'GET',
      path: '/a/x/b/x',
    })
    expect(exampleCall({ method: '(PUT)|(POST)', path: '/a' }).method).toBe('PUT')
  })

  test.each([
    ['ArrowDown', false, { row: 6, column: 5 }],
    ['ArrowUp', false, { row: 4, column: 5 }],
    ['ArrowRight', false, { row: 5, column: 6 }],
    ['ArrowLeft', false, { row: 5, column: 4 }],
    ['PageDown', false, { row: 9, column: 5 }],
    ['PageUp', false, { row: 0, column: 5 }],
    ['Home', false, { row: 5, column: 0 }],
    ['End', false, { row: 5, column: 6 }],
    ['Home', true, { row: 0, column: 0 }],
    ['End', true, { row: 9, column: 6 }],
    ['a', false, undefined],
  ])('%s moves its cell, control: %s', (key, ctrlKey, to) => {
    const pressed = { key, ctrlKey, metaKey: false }

    expect(movedCell({ row: 5, column: 5 }, pressed, { row: 9, column: 6 }, 20)).toEqual(to)
  })
})

describe('suggestions', () => {
  const choices = ['/api/v1/orders', '/api/v1/orders/:id', '/orders'].map((value) => ({ value }))
  const found = (text: string) => matchingChoices(choices, text).map(({ value }) => value)

  test('are those that start with a text, then those that contain its words', () => {
    expect(found('/orders')).toEqual(['/orders', '/api/v1/orders', '/api/v1/orders/:id'])
    expect(found('v1 :id')).toEqual(['/api/v1/orders/:id'])
    expect(found('ORDERS')).toHaveLength(3)
    expect(found('')).toHaveLength(3)
    expect(found('none')).toEqual([])
  })

  test('are limited', () => {
    const many = Array.from({ length: 5000 }, (_, at) => ({ value: `/a/${at}` }))

    expect(matchingChoices(many, '/a')).toHaveLength(50)
  })
})

describe('a chart', () => {
  test('draws values between the edges, under a round mark', () => {
    expect(linesOf([0, 5, 10], { width: 100, height: 50, top: 10 })).toEqual(['0,50 50,25 100,0'])
    expect(linesOf([3], { width: 100, height: 50, top: 10 })).toEqual(['0,35 0,35'])
    expect(linesOf([0, undefined, 10, 5], { width: 90, height: 50, top: 10 })).toEqual([
      '0,50 0,50',
      '60,0 90,25',
    ])
    expect([0, 1, 3, 11, 60, 999].map(highestMark)).toEqual([1, 1, 5, 20, 100, 1000])
  })
})

describe('numbers and times are written as the browser would write them', () => {
  const tags = { en: 'en', zh: 'zh-CN' } as const
  test.each(['en', 'zh'] as const)('%s', (language) => {
    const tag = tags[language]
    for (const number of [0, 7, 999, 1000, 12_345.6, 1_234_567.8912, 100_000_000, -1234]) {
      expect(formatNumber(number)).toBe(number.toLocaleString(tag))
    }
    for (const count of [0, 1, 2, 11, 1000]) {
      const form = new Intl.PluralRules(tag).select(count)
      expect(plural(language, count, { one: 'one', other: 'other' })).toBe(form)
    }
    for (const hour of Array(24).keys()) {
      const time = new Date(2026, hour % 12, hour + 1, hour, hour + 5, 59 - hour).getTime()
      const as = (options: Intl.DateTimeFormatOptions) =>
        new Intl.DateTimeFormat(tag, options).format(time)
      expect(formatTime(language, time)).toBe(as({ dateStyle: 'medium', timeStyle: 'short' }))
      expect(formatDate(language, time)).toBe(as({ dateStyle: 'medium' }))
      expect(formatClock(language, time)).toBe(as({ timeStyle: 'medium' }))
    }
  })

  test('and a text that is no time stays as it is', () => {
    expect(formatTime('en', 'soon')).toBe('soon')
  })
})

describe('a verdict as a policy test', () => {
  test.each([
    { roleKey: 'editor', method: 'GET', path: '/api/v1/orders/7', allowed: true },
    { roleKey: 'no: "x" #1', method: 'PUT', path: '/a%20b', allowed: false },
    { roleKey: null, method: 'GET', path: '/a', host: 'api.example.com', allowed: false },
  ])('%o is what postern policy test reads', (call) => {
    const problems: unknown[] = []
    const text = policyTest(call)
    const read = parseTestFile({ name: 'x_test.yaml', text }, (problem) => problems.push(problem))

    expect(problems).toEqual([])
    const { method, path, allowed } = call
    expect(read).toMatchObject([{ method, path, expect: allowed ? 'allow' : 'deny' }])
  })

  test('shows rules as the files have them', () => {
    const rule = { method: 'GET', path: '/a', origin: { file: 'p.csv', line: 3 } }

    expect(lineOf({ ...rule, roleKey: 'a', effect: 'allow' })).toBe('p, a, /a, GET')
    expect(lineOf({ ...rule, roleKey: 'a', effect: 'deny' })).toBe('p, a, /a, GET, deny')
    expect(lineOf({ ...rule, reason: 'why' })).toBe('GET /a')
  })
})
