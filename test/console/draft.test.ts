import { describe, expect, test } from 'vitest'
import { inOrder, isChanged, limitOf, nameProblem, stateOf } from '../../console/src/lib/draft.ts'
import { columnsOf, lineMover, placeAt, rangeOf } from '../../console/src/lib/lines.ts'
import { rangesOf, splitParts } from '../../console/src/lib/parts.ts'
import { marksOf, placeNow } from '../../console/src/pages/editor/marks.ts'
import { readDraft } from '../../src/console/api/draft.ts'

const file = (name: string, text = '') => ({ name, text })

describe('the name of a file of a draft', () => {
  test('is one that the management API accepts, and is there once', () => {
    const others = [file('policy.csv')]
    const names = [
      ...['orders.csv', 'exclusions.yaml', 'model.conf', 'tests/orders_test.yaml'],
      ...[
        '',
        'a.txt',
        '.csv',
        '../a.csv',
        '/a.csv',
        'a/b.csv',
        'tests/a.yaml',
        'a\0.csv',
        'a.csv\n',
      ],
      ...['tests/../a_test.yaml', 'a b.csv', `${'x'.repeat(101)}.csv`, '<b>.csv'],
    ]

    for (const name of names) {
      const isAccepted = typeof readDraft([file(name)]) !== 'string'
      expect([name, nameProblem(name, others)]).toEqual([name, isAccepted ? undefined : 'form'])
    }
    expect(nameProblem('policy.csv', others)).toBe('taken')
    expect(names.slice(0, 4).map((name) => nameProblem(name, others))).toEqual(
      Array(4).fill(undefined),
    )
  })
})

describe('the files of a draft', () => {
  const base = [file('model.conf', 'm'), file('policy.csv', 'p')]

  test('are the policy first, then its tests', () => {
    const names = ['tests/b_test.yaml', 'z.csv', 'tests/a_test.yaml', 'model.conf']

    expect(inOrder(names.map((name) => file(name))).map(({ name }) => name)).toEqual([
      ...['model.conf', 'z.csv', 'tests/a_test.yaml', 'tests/b_test.yaml'],
    ])
  })

  test('are changed when a text, a name or the number of them is', () => {
    expect(isChanged([...base], base)).toBe(false)
    expect(isChanged([file('model.conf', 'm')], base)).toBe(true)
    expect(isChanged([...base, file('a.csv')], base)).toBe(true)
    expect(isChanged([file('model.conf', 'm'), file('rules.csv', 'p')], base)).toBe(true)
    expect(stateOf(file('policy.csv', 'q'), base)).toBe('changed')
    expect(stateOf(file('a.csv'), base)).toBe('added')
  })

  test('have the limits of the management API', () => {
    const many = Array.from({ length: 101 }, (_, at) => file(`f${at}.csv`))

    expect(limitOf(many.slice(0, 100))).toBeUndefined()
    expect(limitOf(many)).toBe('files')
    expect(limitOf([file('a.csv', 'x'.repeat(8_000_000))])).toBeUndefined()
    expect(limitOf([file('a.csv', 'x'.repeat(8_400_000))])).toBe('bytes')
    // Each takes three bytes.
    expect(limitOf([file('a.csv', '权'.repeat(3_000_000))])).toBe('bytes')
  })
})

describe('a line of a text', () => {
  const before = ['a', 'b', 'c', 'd']
  const moved = (from: readonly string[], to: readonly string[], line: number) =>
    lineMover(from, to)(line)

  test('is found again after an edit elsewhere, and not after one of its own', () => {
    expect(moved(before, ['a', 'b', 'new', 'c', 'd'], 3)).toBe(4)
    expect(moved(before, ['a', 'b', 'new', 'c', 'd'], 2)).toBe(2)
    expect(moved(before, ['b', 'c', 'd'], 4)).toBe(3)
    expect(moved(before, ['a', 'b', 'changed', 'd'], 3)).toBeUndefined()
    expect(moved(before, ['a', 'd'], 2)).toBeUndefined()
    expect(moved(before, [], 1)).toBeUndefined()
    expect(moved(before, before, 9)).toBeUndefined()
    // Of equal lines, nothing says which one went: the last one counts as that.
    expect([1, 2, 3].map((line) => moved(['x', 'x', 'x'], ['x', 'x'], line))).toEqual([
      ...[1, 2, undefined],
    ])
  })

  test('has a range, a place and a width', () => {
    const text = 'one\ntwo\n\nfour'

    expect([1, 2, 3, 4, 9].map((line) => rangeOf(text, line))).toEqual([
      ...[
        [0, 3],
        [4, 7],
        [8, 8],
        [9, 13],
        [13, 13],
      ],
    ])
    expect(placeAt(text, 0)).toEqual({ line: 1, column: 1 })
    expect(placeAt(text, 5)).toEqual({ line: 2, column: 2 })
    expect(placeAt(text, 13)).toEqual({ line: 4, column: 5 })
    expect(columnsOf('a\tb', 4)).toBe(5)
    expect(columnsOf('角色, x', 4)).toBe(7)
  })
})

test('a message stays at its line while other lines change, and goes with its own', () => {
  const checked = [file('policy.csv', 'p\nbad\ng')]
  const noted = [{ file: 'policy.csv', line: 2, message: 'wrong', kind: 'error' as const }]
  const marks = (text: string) => marksOf(file('policy.csv', text), noted, checked)

  expect(marks('p\nbad\ng')).toEqual([{ line: 2, kind: 'error', message: 'wrong' }])
  expect(marks('# new\np\nbad\ng').map(({ line }) => line)).toEqual([3])
  expect(marks('p\ngood\ng')).toEqual([])
  expect(placeNow(noted[0] ?? {}, [file('policy.csv', '#\np\nbad\ng')], checked)).toBe(3)
  expect(placeNow(noted[0] ?? {}, [], checked)).toBeUndefined()
})

describe('the parts of a long file', () => {
  const linesUpTo = (count: number) => Array.from({ length: count }, (_, at) => `line ${at + 1}`)

  test('are the text again when they are joined, and none is much longer than the others', () => {
    for (const count of [1, 999, 1999, 2000, 2999, 10_001]) {
      const text = linesUpTo(count).join('\n')
      const parts = splitParts(text)

      expect(parts.join('\n')).toBe(text)
      expect(Math.max(...parts.map((part) => part.split('\n').length))).toBeLessThan(2000)
    }
    expect(splitParts('')).toEqual([''])
    expect(splitParts(linesUpTo(1999).join('\n'))).toHaveLength(1)
  })

  test('know their lines, also after an edit', () => {
    const parts = splitParts(linesUpTo(2000).join('\n'))

    expect(rangesOf(parts)).toEqual([
      { first: 1, last: 1000 },
      { first: 1001, last: 2000 },
    ])
    expect(rangesOf(['one\ntwo', '', 'last\n'])).toEqual([
      { first: 1, last: 2 },
      { first: 3, last: 3 },
      { first: 4, last: 5 },
    ])
  })
})
