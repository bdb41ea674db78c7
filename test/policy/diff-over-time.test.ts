import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decide } from '../../src/policy/decide.ts'
import type { AccessChange } from '../../src/policy/diff/access-change.ts'
import { diffOverTime } from '../../src/policy/diff/diff-over-time.ts'
import { compile } from '../../src/policy/engine/compile.ts'
import { formatUntil } from '../../src/policy/rule/until.ts'
import { casbinModels } from './casbin-models.ts'
import { type PolicyText, policySet, widestModel } from './policy-text.ts'

const until = (day: string) => `# postern: until ${day}`
const editor = 'p, editor, /orders, GET'
const other = 'p, x, /y, GET'
const november = Date.UTC(2026, 10, 1)

function diffOf(from: PolicyText | readonly string[], to: PolicyText | readonly string[]) {
  const setOf = (text: PolicyText | readonly string[]) =>
    policySet('length' in text ? { model: widestModel, lines: [other, ...text] } : text)
  return diffOverTime(setOf(from), setOf(to), { now: november })
}

/** `+ editor /orders 2026-12-01..2027-06-01`: from when, and until when the line lasts. */
function inShort({ direction, roleKey, shares, startsAt, until: end }: AccessChange): string {
  const time = (at: number | undefined) => (at === undefined ? '' : formatUntil(at))
  const sign = direction === 'gain' ? '+' : '-'
  return `${sign} ${roleKey} ${shares[0]?.grants[0]?.path} ${time(startsAt)}..${time(end)}`
}

const changes = (from: PolicyText | readonly string[], to: PolicyText | readonly string[]) =>
  diffOf(from, to).changes.map(inShort)

describe('a comparison of policies with lines that expire', () => {
  test.each<[string, readonly string[], readonly string[], readonly string[]]>([
    [
      'a new line that expires',
      [],
      [until('2026-12-01'), editor],
      ['+ editor /orders ..2026-12-01'],
    ],
    ['a new line that has expired', [], [until('2026-10-01'), editor], []],
    ['an expired line that is removed', [until('2026-10-01'), editor], [], []],
    [
      'a later time',
      [until('2026-12-01'), editor],
      [until('2027-06-01'), editor],
      ['+ editor /orders 2026-12-01..2027-06-01'],
    ],
    [
      'an earlier time',
      [until('2027-06-01'), editor],
      [until('2026-12-01'), editor],
      ['- editor /orders 2026-12-01..2027-06-01'],
    ],
    ['no end any more', [until('2026-12-01'), editor], [editor], ['+ editor /orders 2026-12-01..']],
    ['an end', [editor], [until('2026-12-01'), editor], ['- editor /orders 2026-12-01..']],
    [
      'a time in the past that is moved to the future',
      [until('2026-10-01'), editor],
      [until('2026-12-01'), editor],
      ['+ editor /orders ..2026-12-01'],
    ],
    [
      'a lasting line replaced by a wider one that expires',
      [editor],
      [until('2026-12-01'), 'p, editor, /orders, *'],
      ['+ editor /orders ..2026-12-01', '- editor /orders 2026-12-01..'],
    ],
    [
      'a later time that a line which expires later covers for a while',
      [until('2026-12-01'), editor, until('2027-03-01'), 'p, editor, /*, GET'],
      [until('2027-06-01'), editor, until('2027-03-01'), 'p, editor, /*, GET'],
      ['+ editor /orders 2027-03-01..2027-06-01'],
    ],
    [
      'a later time that a lasting line covers',
      [until('2026-12-01'), editor, 'p, editor, /*, GET'],
      [until('2027-06-01'), editor, 'p, editor, /*, GET'],
      [],
    ],
    [
      'a later time of an inheritance',
      [editor, until('2026-12-01'), 'g, lead, editor'],
      [editor, until('2027-06-01'), 'g, lead, editor'],
      ['+ lead /orders 2026-12-01..2027-06-01'],
    ],
    [
      'an inheritance that brings a deny rule and now ends',
      ['p, lead, /a, GET', 'p, careful, /a, GET, deny', 'g, lead, careful'],
      ['p, lead, /a, GET', 'p, careful, /a, GET, deny', until('2026-12-01'), 'g, lead, careful'],
      ['+ lead /a 2026-12-01..'],
    ],
    ['the same times', [until('2026-12-01'), editor], [until('2026-12-01'), editor], []],
  ])('says what changes and from when: %s', (_, from, to, expected) => {
    expect(changes(from, to)).toEqual(expected)
  })

  test('reports a line again when it gives more methods, a rule or a role from a later moment on', () => {
    const rules = ['p, editor, /orders, *', 'p, editor, /stock, PUT']
    const expiring = ['/orders, PUT', '/orders, DELETE', '/stock, PUT'].flatMap((what) => [
      until('2026-12-01'),
      `p, lead, ${what}`,
    ])
    const found = diffOf([...rules, ...expiring], [...rules, ...expiring, 'g, lead, editor'])
    const grants = found.changes.map(({ startsAt = november, severity, shares }) => [
      formatUntil(startsAt),
      severity,
      shares.flatMap((share) => share.grants.map(({ methods, path }) => `${methods} ${path}`)),
    ])

    expect(grants).toEqual([
      ['2026-12-01', 'wide', ['* /orders', 'PUT /stock']],
      ['2026-11-01', 'changing', ['GET,HEAD,POST,PATCH,OPTIONS,CONNECT,TRACE,other /orders']],
    ])
  })

  test('widens when an exclusion lasts longer', () => {
    const entry = '- { method: GET, path: /me, reason: why }'
    const with_ = (day: string) => ({ exclusions: `${until(day)}\n${entry}` })
    const longer = diffOf(with_('2026-12-01'), with_('2027-06-01'))
    const shorter = diffOf(with_('2027-06-01'), with_('2026-12-01'))

    expect(longer.changes.map(inShort)).toEqual(['+ undefined /me 2026-12-01..2027-06-01'])
    expect([longer.widened, shorter.widened]).toEqual([true, false])
    expect(shorter.changes.map(({ direction }) => direction)).toEqual(['loss'])
  })

  test('reports for later the roles that gain only then', () => {
    const base = ['g, lead, editor', until('2026-12-01'), 'p, lead, /orders, GET']
    const found = diffOf(base, [...base, editor]).changes

    expect(
      found.map((change) => [inShort(change), change.shares.flatMap(({ roles }) => roles)]),
    ).toEqual([
      ['+ editor /orders ..', ['editor']],
      ['+ editor /orders 2026-12-01..', ['editor', 'lead']],
    ])
  })

  test.each(['domains', 'priority by order'] as const)(
    'under a model that Casbin evaluates: %s',
    (name) => {
      const modelText = casbinModels[name]
      const line = name === 'domains' ? 'p, a, d, /b, GET' : 'p, a, /b, GET, allow'
      const with_ = (day: string) => ({ modelText, lines: [until(day), line] })

      const [longer, shorter] = [
        diffOf(with_('2026-12-01'), with_('2027-06-01')),
        diffOf(with_('2027-06-01'), with_('2026-12-01')),
      ]

      expect(longer.widened).toBe(true)
      expect(longer.changes.map(({ startsAt = 0 }) => formatUntil(startsAt))).toContain(
        '2026-12-01',
      )
      expect(shorter.changes.some(({ direction }) => direction === 'loss')).toBe(true)
      expect(diffOf(with_('2026-12-01'), with_('2026-12-01')).changes).toEqual([])
    },
  )
})

describe('random policies', () => {
  const days = ['2026-10-01', '2026-12-01', '2027-02-01']
  const line = fc
    .tuple(
      fc.constantFrom(undefined, ...days),
      fc.constantFrom(
        ...['a', 'b', 'c'].flatMap((role) =>
          ['/x', '/x/:id', '/x/*'].flatMap((path) => [`p, ${role}, ${path}, GET, allow`]),
        ),
        'g, b, a',
        'g, c, b',
        'g, c, a',
      ),
    )
    .map(([day, text]) => (day === undefined ? [text] : [until(day), text]))
  const deny = fc.constantFrom([], ['p, a, /x/7, GET, deny'], ['p, b, /x, GET, deny'])
  const policy = fc
    .tuple(fc.array(line, { maxLength: 6 }), deny)
    .map(([lines, denied]) => [other, ...lines.flat(), ...denied])
  const moments = [november, ...days.map((day) => Date.parse(day))].filter((at) => at >= november)
  const questions = ['a', 'b', 'c'].flatMap((roleKey) =>
    ['/x', '/x/7', '/x/8', '/x/7/8'].map((path) => ({ roleKey, method: 'GET', path })),
  )

  test('widen and narrow as decisions do at some moment from now on', () => {
    let widening = 0
    fc.assert(
      fc.property(policy, policy, (before, after) => {
        const [from, to] = [before, after].map((lines) => policySet({ model: widestModel, lines }))
        if (from === undefined || to === undefined) return
        const clock = { time: 0 }
        const [old, young] = [compile(from, () => clock.time), compile(to, () => clock.time)]
        const found = { gain: false, loss: false }
        for (const at of moments) {
          clock.time = at
          for (const question of questions) {
            const [was, is] = [decide(question, old).allowed, decide(question, young).allowed]
            found.gain ||= is && !was
            found.loss ||= was && !is
          }
        }

        const diff = diffOverTime(from, to, { now: november })

        expect({
          gain: diff.changes.some(({ direction }) => direction === 'gain'),
          loss: diff.changes.some(({ direction }) => direction === 'loss'),
        }).toEqual(found)
        expect(diff.widened).toBe(found.gain)
        if (diff.changes.some(({ startsAt }) => startsAt !== undefined)) widening++
      }),
      { numRuns: 200 },
    )
    expect(widening).toBeGreaterThan(10)
  })
})
