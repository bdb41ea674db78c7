import { describe, expect, test } from 'vitest'
import { decide } from '../../src/policy/decide.ts'
import { compile } from '../../src/policy/engine/compile.ts'
import { explain } from '../../src/policy/explain.ts'
import { isSamePolicy } from '../../src/policy/review/same-policy.ts'
import { formatUntil, parseUntil } from '../../src/policy/rule/until.ts'
import { parsePolicyPair } from '../../src/policy/set/policy-pair.ts'
import { parsePolicySet } from '../../src/policy/set/policy-set.ts'
import { datedKey, inheritanceKey } from '../../src/policy/set/revision.ts'
import { looksLikeUntil } from '../../src/policy/set/until-comments.ts'
import { casbinModels } from './casbin-models.ts'
import { formatPolicyFiles } from './format-policy.ts'
import {
  type PolicyText,
  policyFiles,
  policySet,
  problemsOf,
  shippedModel,
  widestModel,
} from './policy-text.ts'

const december = Date.UTC(2026, 11, 1)
const until = '# postern: until 2026-12-01'
const later = '# postern: until 2027-06-01'
const allow = 'p, editor, /orders, GET'
const messages = (text: PolicyText) =>
  problemsOf(policyFiles(text)).map(({ file, line, message }) => `${file}:${line}: ${message}`)

describe('the time after "until"', () => {
  test.each([
    ['2026-12-01', december],
    ['2026-12-01T00:00:00Z', december],
    ['2026-12-01t18:30:00z', december + 18.5 * 3_600_000],
    ['2026-12-01T02:00:00+02:00', december],
    ['2026-11-30T16:00:00-08:00', december],
    ['2026-12-01T00:00:00.250Z', december + 250],
    ['2024-02-29', Date.UTC(2024, 1, 29)],
  ])('may be written as %s', (text, expected) => {
    expect(parseUntil(text)).toBe(expected)
    expect(parseUntil(formatUntil(expected))).toBe(expected)
  })

  test.each([
    'tomorrow',
    '2026-13-01',
    '2026-02-30',
    '2025-02-29',
    '2026-12-1',
    '26-12-01',
    '2026-12-01T24:00:00Z',
    '2026-12-01T12:60:00Z',
    '2026-12-01T12:00Z',
    '2026-12-01T12:00:00+24:00',
    '+012026-12-01',
    '01.12.2026',
    '',
  ])('%s is not one', (text) => {
    expect(parseUntil(text)).toContain('is not a date')
  })

  test('needs a time zone', () => {
    expect(parseUntil('2026-12-01T18:00:00')).toContain('has no time zone')
  })

  test('is written as a date at the start of a day, else as a time', () => {
    expect(formatUntil(december)).toBe('2026-12-01')
    expect(formatUntil(december + 1000)).toBe('2026-12-01T00:00:01Z')
    expect(formatUntil(december + 1)).toBe('2026-12-01T00:00:00.001Z')
  })
})

describe('"# postern: until"', () => {
  test('belongs to the line below, also above other comments', () => {
    const lines = [
      until,
      '# for the migration',
      '# postern: ignore wide-rule',
      allow,
      'p, a, /b, GET',
    ]

    expect(policySet({ lines }).rules.map((rule) => rule.until)).toEqual([december, undefined])
  })

  test('belongs to a g line, and to an entry of exclusions.yaml', () => {
    const { inheritances, exclusions } = policySet({
      model: widestModel,
      lines: [allow, until, 'g, lead, editor', 'g, other, editor'],
      exclusions: [
        '- { method: GET, path: /a, reason: always }',
        `  ${until}`,
        '- method: GET',
        '  path: /b',
        '  reason: for a while',
        until,
        '-',
        '  method: GET',
        '  path: /c',
        '  reason: for a while',
      ].join('\r\n'),
    })

    expect(inheritances.map((each) => each.until)).toEqual([december, undefined])
    expect(exclusions.map((each) => each.until)).toEqual([undefined, december, december])
  })

  test.each([
    '# postern: until tomorrow',
    '#postern: until 2026-13-01',
    '# postern: until 2026-12-01 please',
    '# postern: until 2026-12-01 18:00:00Z',
    '# postern: until: 2026-12-01',
    '# postern: until',
    '# postern: Until 2026-12-01',
    '# Postern: until 2026-12-01',
    '# postern until 2026-12-01',
    '# postern : until 2026-12-01',
    '## postern: until 2026-12-01',
    '# postern: untill 2026-12-01',
    '# postern: unitl 2026-12-01',
    '# postern: till 2026-12-01',
    '# postern: expires 2026-12-01',
    '# postern: 2026-12-01',
    '# postern: valid until 2026-12-01',
    '# postren: until 2026-12-01',
    '# p\u043estern: until 2026-12-01',
    '# \u0440\u043e\u0455tern: until 2026-12-01',
    '# postern\uff1a until 2026-12-01',
    '# post\u00adern: until 2026-12-01',
    '#\u200bpostern: until 2026-12-01',
    '# postern: unti\u04cf 2026-12-01',
  ])('is never taken for an ordinary comment: %s', (comment) => {
    expect(messages({ lines: ['p, a, /b, GET', comment, allow] })).toEqual([
      expect.stringMatching(/^policy\.csv:2: .*(?:is not a date|write exactly)/),
    ])
    const exclusions = `${comment}\n- { method: GET, path: /a, reason: r }`
    expect(messages({ exclusions })).toEqual([
      expect.stringMatching(/^exclusions\.yaml:1: .*(?:is not a date|write exactly)/),
    ])
    expect(messages({ modelText: `${policyFiles({})[0]?.text}\n${comment}` })).toEqual([
      expect.stringMatching(/^model\.conf:\d+: .*needs a line of its own/),
    ])
  })

  test.each([
    '# Postern asks until somebody answers',
    '# postern: ignore duplicate',
    '# until 2026-12-01 we need this',
    '# postern: reviewed 2026-10-01',
    '# postern: rules of the shop',
    '# note: until 2026-12-01 we need this',
  ])('is not seen where it is not meant: %s', (comment) => {
    expect(messages({ lines: [comment, allow] })).toEqual([])
  })

  test.each([
    ['blanks', `#${' '.repeat(50_000)}postern: until 2026-12-01 x`],
    ['invisible characters', `# postern${'\u200b'.repeat(50_000)}: until 2026-12-01`],
    ['blanks inside', `# postern${' '.repeat(50_000)}: until 2026-12-01`],
  ])('is found behind many %s', (_, comment) => {
    expect(messages({ lines: [comment, allow] })).toHaveLength(1)
  })

  test.each([
    ['letters', `#${'a'.repeat(500_000)}\rx`],
    ['number signs', '#'.repeat(500_000)],
    ['colons', `# postern${':'.repeat(500_000)}`],
    ['letters that normalize to many', `# postern: ${'\ufdfa'.repeat(500_000)}`],
  ])('takes no time to look for in many %s', (_, comment) => {
    expect(looksLikeUntil(comment)).toBe(false)
  })

  test.each([
    ['above a blank line', [until, '', allow], 1],
    ['at the end of a file', [allow, until], 2],
    ['at the end of a file, above a line break', [allow, until, ''], 2],
    ['above a comment at the end', [allow, until, '# the end'], 2],
  ])('needs a line below: %s', (_, lines, line) => {
    expect(messages({ lines })).toEqual([
      expect.stringContaining(`policy.csv:${line}: "# postern: until" has no line below it`),
    ])
  })

  test.each([
    ['inside an entry', '- method: GET\n# postern: until 2026-12-01\n  path: /a\n  reason: r', 2],
    ['above a blank line', `${until}\n\n- { method: GET, path: /a, reason: r }`, 1],
    ['in a list without entries', until, 1],
    ['at the end', `- { method: GET, path: /a, reason: r }\n${until}`, 2],
    [
      'above two entries on one line',
      `[\n${until}\n{ method: GET, path: /a, reason: r }, { method: GET, path: /b, reason: r }]`,
      2,
    ],
  ])('needs an entry below: %s', (_, exclusions, line) => {
    expect(messages({ exclusions })).toEqual([
      expect.stringContaining(`exclusions.yaml:${line}: "# postern: until" has no line below it`),
    ])
  })

  test.each<[string, PolicyText, string]>([
    ['a p line', { lines: [`${allow} ${until}`] }, 'a comment needs a line of its own'],
    [
      'a g line',
      { model: widestModel, lines: [allow, `g, lead, editor ${until}`] },
      'needs a line of its own',
    ],
    [
      'an exclusion',
      { exclusions: `- method: GET ${until}\n  path: /a\n  reason: r` },
      'needs a line of its own',
    ],
  ])('is refused at the end of %s', (_, text, message) => {
    expect(messages(text)).toEqual([expect.stringContaining(message)])
  })

  test('is refused as a key of an exclusion', () => {
    const exclusions = '- { method: GET, path: /a, reason: r, until: 2026-12-01 }'

    expect(messages({ exclusions })).toEqual([expect.stringContaining('on the line above')])
  })

  test('is refused twice above one line, and above a line that denies', () => {
    expect(messages({ lines: [until, later, allow] })).toEqual([
      expect.stringContaining('policy.csv:2: line 1 already says'),
    ])
    expect(messages({ model: widestModel, lines: [until, `${allow}, deny`] })).toEqual([
      expect.stringContaining('policy.csv:1: "# postern: until" is not allowed above a line that'),
    ])
  })

  test('is refused above a denying line of a model that Casbin evaluates', () => {
    const modelText = casbinModels['priority by order']

    expect(messages({ modelText, lines: [until, 'p, a, /b, GET, deny'] })).toEqual([
      expect.stringContaining('is not allowed above a line that denies'),
    ])
  })
})

describe('of two lines with the same content', () => {
  test.each([
    ['the one that lasts longer counts', [until, allow, later, allow], [4, Date.UTC(2027, 5, 1)]],
    ['whatever their order', [later, allow, until, allow], [2, Date.UTC(2027, 5, 1)]],
    ['a permanent one lasts longest', [until, allow, allow], [3, undefined]],
    ['the first of equal ones counts', [until, allow, until, allow], [2, december]],
  ])('%s', (_, lines, [line, end]) => {
    const { rules } = policySet({ lines })

    expect(rules.map((rule) => [rule.origin.line, rule.until])).toEqual([[line, end]])
  })

  test('both count where the first match decides', () => {
    const modelText = casbinModels['priority by order']
    const lines = [until, 'p, a, /b, GET, allow', 'p, a, /b, GET, deny', 'p, a, /b, GET, allow']

    expect(policySet({ modelText, lines }).rules).toHaveLength(3)
  })
})

describe('the revision', () => {
  const text = { model: widestModel, lines: [allow, 'g, lead, editor'] }
  const exclusions = '- { method: GET, path: /a, reason: r }'

  test('without any "until" is the one that it always was', () => {
    expect(policySet({ ...text, exclusions }).revision).toBe('r-8a9d9e8830fa91b0c582f002d55fd1b4')
  })

  test('differs by what expires, and when', () => {
    const revisions = [
      policySet({ ...text, exclusions }),
      policySet({ ...text, lines: [until, allow, 'g, lead, editor'], exclusions }),
      policySet({ ...text, lines: [later, allow, 'g, lead, editor'], exclusions }),
      policySet({ ...text, lines: [allow, until, 'g, lead, editor'], exclusions }),
      policySet({ ...text, exclusions: `${until}\n${exclusions}` }),
      policySet({ ...text, exclusions: `${later}\n${exclusions}` }),
    ].map(({ revision }) => revision)

    expect(new Set(revisions).size).toBe(revisions.length)
  })

  test('does not depend on how the time is written', () => {
    const lines = ['# postern: until 2026-12-01T01:00:00+01:00', allow]

    expect(policySet({ lines }).revision).toBe(policySet({ lines: [until, allow] }).revision)
  })

  test('cannot be that of a policy whose names look like a time', () => {
    const origin = { file: 'policy.csv', line: 1 }
    const expiring = { roleKey: 'g2', parentKey: 'b', origin, until: december }
    const named = { relation: 'g2', roleKey: 'b', parentKey: '2026-12-01', origin }

    expect(datedKey(inheritanceKey(expiring), expiring)).not.toBe(inheritanceKey(named))
    expect(datedKey(inheritanceKey(expiring), expiring)).toContain('\0\0')
  })

  test('survives being written and read again', () => {
    const set = policySet({
      ...text,
      lines: [until, allow, later, 'g, lead, editor', 'p, a, /b, GET'],
      exclusions: `${later}\n${exclusions}`,
    })

    const again = parsePolicySet(formatPolicyFiles(set))

    expect(again.revision).toBe(set.revision)
    expect(again.exclusions[0]?.until).toBe(set.exclusions[0]?.until)
    expect(isSamePolicy(again, set)).toBe(true)
  })

  test('two policies that differ only in a time are not the same policy', () => {
    const one = policySet({ lines: [until, allow] })

    expect(isSamePolicy(one, policySet({ lines: [later, allow] }))).toBe(false)
    expect(isSamePolicy(one, policySet({ lines: [allow] }))).toBe(false)
  })
})

describe('a pair of policies', () => {
  const lines = Array.from({ length: 20 }, (_, at) => `p, role-${at}, /things, GET`)

  test.each([
    ['added', lines, [...lines.slice(0, 5), until, ...lines.slice(5)]],
    ['removed', [until, ...lines], lines],
    ['moved', [until, ...lines], [...lines.slice(0, 1), until, ...lines.slice(1)]],
    ['changed', [until, ...lines], [later, ...lines]],
    ['kept, its line removed', [until, ...lines], [until, ...lines.slice(1)]],
  ])('reads a comment that was %s', (_, before, after) => {
    const [from, to] = [policyFiles({ lines: before }), policyFiles({ lines: after })]

    const pair = parsePolicyPair(from, to)

    expect(pair.from).toEqual(parsePolicySet(from))
    expect(pair.to).toEqual(parsePolicySet(to))
  })

  test('reads one above an exclusion', () => {
    const exclusions = '- { method: GET, path: /a, reason: r }'
    const [from, to] = [
      policyFiles({ lines, exclusions }),
      policyFiles({ lines, exclusions: `${until}\n${exclusions}` }),
    ]

    expect(parsePolicyPair(from, to).to).toEqual(parsePolicySet(to))
  })
})

describe('decisions', () => {
  const question = { roleKey: 'editor', method: 'GET', path: '/orders' }
  const clockAt = (time: number) => ({ time })

  test('change with the clock, to the millisecond, forth and back', () => {
    const clock = clockAt(december - 1)
    const compiled = compile(policySet({ lines: [until, allow] }), () => clock.time)

    expect(decide(question, compiled).allowed).toBe(true)
    clock.time = december
    expect(decide(question, compiled)).toBe(compiled.none)
    clock.time = december - 1
    expect(decide(question, compiled).allowed).toBe(true)
    clock.time = 0
    expect(decide(question, compiled).allowed).toBe(true)
  })

  test('name the moment with the rule', () => {
    const compiled = compile(policySet({ lines: [until, allow] }), () => 0)

    expect(decide(question, compiled).rule?.until).toBe(december)
  })

  test('fall to the next exclusion for the call when one expires', () => {
    const entry = (reason: string) => `- { method: GET, path: /orders, reason: ${reason} }`
    const clock = clockAt(0)
    const exclusions = [until, entry('a'), later, entry('b'), entry('c'), entry('d')].join('\n')
    const compiled = compile(policySet({ lines: ['p, x, /y, GET'], exclusions }), () => clock.time)
    const reason = () => decide(question, compiled).exclusion?.reason

    expect(reason()).toBe('a')
    clock.time = december
    expect(reason()).toBe('b')
    clock.time = Date.UTC(2027, 5, 1)
    expect(reason()).toBe('c')
  })

  test('ask the rules when the only exclusion has expired', () => {
    const exclusions = `${until}\n- { method: GET, path: /orders, reason: r }`
    const compiled = compile(policySet({ model: shippedModel, exclusions }), () => december)

    expect(decide(question, compiled)).toBe(compiled.none)
  })

  test('are explained by the rule that has expired', () => {
    const compiled = compile(
      policySet({ lines: [until, allow, until, 'p, other, /orders, GET'] }),
      () => december,
    )

    const { nearMisses } = explain(question, compiled)

    expect(nearMisses.map(({ differs, rule }) => [differs, rule.origin.line])).toEqual([
      ['expired', 2],
    ])
  })
})
