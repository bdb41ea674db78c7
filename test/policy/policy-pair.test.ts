import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatModel } from '../../src/policy/set/format.ts'
import { parsePolicyPair } from '../../src/policy/set/policy-pair.ts'
import { type PolicyFile, parsePolicySet } from '../../src/policy/set/policy-set.ts'
import { widestModel } from './policy-text.ts'

const model = formatModel(widestModel)

function files(tables: Readonly<Record<string, readonly string[]>>, exclusions = ''): PolicyFile[] {
  return [
    { name: 'd/model.conf', text: model },
    ...Object.entries(tables).map(([name, lines]) => ({
      name: `d/${name}.csv`,
      text: lines.join('\n'),
    })),
    { name: 'd/exclusions.yaml', text: exclusions },
  ]
}

/** The result, or the problems. */
function outcome<T>(work: () => T): unknown {
  try {
    return work()
  } catch (error) {
    return { problems: (error as { problems?: unknown }).problems ?? error }
  }
}

function expectSame(from: readonly PolicyFile[], to: readonly PolicyFile[]): void {
  const together = outcome(() => parsePolicyPair(from, to))
  const apart = outcome(() => ({ from: parsePolicySet(from), to: parsePolicySet(to) }))
  expect(together).toEqual(apart)
}

describe('two policies parsed together', () => {
  const rules = Array.from({ length: 40 }, (_, at) => `p, r${at % 5}, /a/${at}, GET`)
  const tables = { a: ['# rules', '', ...rules, 'g, r1, r2'], b: ['p, x, /x, PUT, deny'] }

  test.each([
    ['the same', tables],
    ['a line added', { ...tables, b: [...tables.b, 'p, x, /y, *'] }],
    ['a line removed', { ...tables, a: tables.a.filter((_, at) => at !== 7) }],
    ['a line moved to another file', { a: tables.a.slice(3), b: [...tables.b, rules[0] ?? ''] }],
    ['a file renamed', { a: tables.a, z: tables.b }],
    ['another order', { a: tables.a.toReversed(), b: tables.b }],
    ['a comment and other spacing', { ...tables, b: ['# why', 'p,x,/x,PUT,deny'] }],
    ['a repeated line', { a: tables.a, b: [rules[3] ?? '', ...tables.b] }],
    ['a line repeated before its original', { a: [rules[9] ?? '', ...tables.a], b: tables.b }],
    ['CRLF', { ...tables, a: tables.a.map((line) => `${line}\r`) }],
    ['a byte order mark', { ...tables, b: ['\uFEFFp, x, /x, PUT, deny'] }],
    ['a byte order mark inside', { ...tables, b: ['p, y, /y, GET', '\uFEFFp, x, /x, PUT, deny'] }],
    ['a bad line', { ...tables, b: [...tables.b, 'p, x, y, GET'] }],
    ['a circle', { ...tables, b: [...tables.b, 'g, r2, r1'] }],
    ['no rules', { a: [] }],
    ['declared empty', { a: ['# postern: empty'] }],
    ['declared empty with rules', { ...tables, b: [...tables.b, '# postern: empty'] }],
  ])('are as if parsed apart: %s', (_, edited) => {
    const plain = files(tables)
    const repeating = files({ ...tables, c: rules.slice(0, 5) })

    expectSame(plain, files(edited))
    expectSame(files(edited), plain)
    expectSame(repeating, files({ ...edited, c: rules.slice(0, 5) }))
    expectSame(repeating, files(edited))
    expectSame(plain, files(edited, '- { method: GET, path: /open, reason: why }'))
  })

  test('share the texts of common lines', () => {
    const to = files({ ...tables, b: [...tables.b, 'p, x, /y, *'] })

    const pair = parsePolicyPair(files(tables), to)

    expect(pair.to.rules).toHaveLength(pair.from.rules.length + 1)
    expect(pair.to.rules.at(-1)).toMatchObject({ path: '/y', origin: { file: 'd/b.csv', line: 2 } })
  })

  test('are as if parsed apart, whatever the edit', () => {
    const line = fc.oneof(
      fc.constantFrom(...rules),
      fc.constantFrom(
        '',
        '# note',
        'g, r1, r2',
        'g, r2, r1',
        'p,r0,/a/0,GET',
        'p, bad',
        'p, n, /n, *',
      ),
    )
    const edit = fc.record({
      at: fc.nat({ max: 45 }),
      drop: fc.nat({ max: 3 }),
      put: fc.array(line, { maxLength: 3 }),
    })
    let alike = 0

    fc.assert(
      fc.property(
        fc.array(line, { maxLength: 5 }),
        fc.array(edit, { maxLength: 4 }),
        fc.nat({ max: 40 }),
        (more, edits, cut) => {
          const before = [
            ...tables.a,
            ...more.filter((each) => each !== 'p, bad' && each !== 'g, r2, r1'),
          ]
          const after = [...before]
          for (const { at, drop, put } of edits) after.splice(at, drop, ...put)
          const to = files({ a: after.slice(0, cut), b: after.slice(cut) })
          expectSame(files({ a: before }), to)
          if (!('problems' in (outcome(() => parsePolicySet(to)) as object))) alike++
        },
      ),
      { numRuns: 500 },
    )

    expect(alike).toBeGreaterThan(50)
  })
})
