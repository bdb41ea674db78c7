import { describe, expect, test } from 'vitest'
import { formatModel } from '../../src/policy/set/format.ts'
import { parsePolicySet } from '../../src/policy/set/policy-set.ts'
import { policyFiles, policySet, problemsOf, widestModel } from './policy-text.ts'

const rules = [
  'p, editor, /api/v1/orders, GET',
  'p, editor, /api/v1/orders, POST',
  'p, viewer, /api/v1/orders, GET',
]
const withTables = (tables: Record<string, string>) => [
  ...policyFiles({}).filter(({ name }) => name !== 'policy.csv'),
  ...Object.entries(tables).map(([name, text]) => ({ name, text })),
]

describe('a policy set', () => {
  test('is refused whole for one bad row among ten thousand, and the row is named', () => {
    const lines = Array.from({ length: 10_000 }, (_, at) => `p, editor, /api/v1/things/${at}, GET`)
    lines[7_776] = 'p, editor, /api/v1/things/:, GET'

    expect(problemsOf(policyFiles({ lines }))).toMatchObject([
      { file: 'policy.csv', line: 7_777, column: 12 },
    ])
  })

  test('reports the problems of all files at once, in the order of the files', () => {
    const files = [
      {
        name: 'model.conf',
        text: policyFiles({})[0]?.text.replace('keyMatch2(', 'keyMatch4(') ?? '',
      },
      { name: 'b.csv', text: 'p, editor, /x, get\n\nq, editor\n' },
      { name: 'a.csv', text: 'p, editor, x, GET' },
      { name: 'exclusions.yaml', text: '- method: GET\n  path: /x\n' },
    ]

    expect(problemsOf(files).map(({ file, line }) => `${file}:${line}`)).toEqual([
      'a.csv:1',
      'b.csv:1',
      'b.csv:3',
      'exclusions.yaml:1',
      'model.conf:11',
    ])
  })

  test('merges tables in the order of their names and keeps one of equal lines', () => {
    const { rules: merged } = parsePolicySet(
      withTables({
        'b.csv': `${rules[0]}\n${rules[1]}`,
        'a.csv': `${rules[2]}\n${rules[0]}\n${rules[0]}`,
      }),
    )

    expect(merged.map(({ method, origin }) => `${origin.file}:${origin.line} ${method}`)).toEqual([
      'a.csv:1 GET',
      'a.csv:2 GET',
      'b.csv:2 POST',
    ])
  })

  test.each([
    ['no model', policyFiles({}).slice(1)],
    ['two models', [...policyFiles({}), { name: 'old/model.conf', text: '' }]],
    ['two exclusion lists', [...policyFiles({}), { name: 'old/exclusions.yaml', text: '' }]],
    ['a file of a mistyped name', [...policyFiles({}), { name: 'denials.cvs', text: '' }]],
    ['no table', withTables({})],
    ['a table without lines', withTables({ 'policy.csv': '' })],
    ['a table of comments', withTables({ 'policy.csv': '# p, editor, /x, GET\n' })],
    ['inheritance but no rules', policyFiles({ model: widestModel, lines: ['g, editor, viewer'] })],
    [
      'rules and a declaration that there are none',
      policyFiles({ lines: [...rules, '# postern: empty'] }),
    ],
    ['nothing', []],
  ])('is refused with %s', (_, files) => {
    expect(problemsOf(files)).not.toEqual([])
  })

  test.each([
    ['a table, between joined files', 'policy.csv', 'p, a, /x, GET\n', 'p, b, /x, GET', '2:1'],
    ['a table, before a name', 'policy.csv', 'p, ', 'clerk, /x, GET', '1:4'],
    ['a comment', 'policy.csv', 'p, a, /x, GET\n# a', 'b', '2:4'],
    ['a table, twice at its start', 'policy.csv', '\uFEFF', 'p, a, /x, GET', '1:2'],
    ['the model', 'model.conf', '', `\n${formatModel(widestModel)}`, '1:2'],
    ['the exclusions', 'exclusions.yaml', '- method: GET\n', '  path: /me\n  reason: own', '2:1'],
  ])('is refused with a byte order mark in %s', (_, name, before, after, place) => {
    const first = name === 'model.conf' ? '\uFEFF' : ''
    const text = `${first}${before}\uFEFF${after}`
    const files = policyFiles({}).map((file) => (file.name === name ? { name, text } : file))

    const problems = problemsOf(files)
      .filter(({ message }) => message.includes('byte order mark'))
      .map(({ file, line, column }) => `${file} ${line}:${column}`)

    expect(problems).toEqual([`${name} ${place}`])
  })

  test('may have a byte order mark at the start of each file', () => {
    const files = policyFiles({}).map(({ name, text }) => ({ name, text: `\uFEFF${text}` }))

    expect(problemsOf(files)).toEqual([])
  })

  test('may be empty when a line declares it', () => {
    expect(
      policySet({ lines: ['# nobody may do anything yet', '# postern: empty'] }).rules,
    ).toEqual([])
  })

  test('cannot be changed', () => {
    const set = policySet({ exclusions: '- {method: GET, path: /me, reason: own}' })

    const parts = [set, set.model, set.model.path, set.rules, set.inheritances, set.exclusions]
    const entries = [
      set.rules[0],
      set.rules[0]?.origin,
      set.exclusions[0],
      set.exclusions[0]?.origin,
    ]
    expect([...parts, ...entries].filter((part) => !Object.isFrozen(part))).toEqual([])
  })
})

describe('a revision', () => {
  const exclusions =
    '- {method: GET, path: /me, reason: own}\n- {method: GET, path: /you, reason: other}\n'
  const base = policySet({ lines: rules, exclusions })

  test('has the form r- and 32 hex digits', () => {
    expect(base.revision).toMatch(/^r-[0-9a-f]{32}$/)
  })

  test.each([
    ['the order of the lines', policySet({ lines: rules.toReversed(), exclusions })],
    ['repeated lines', policySet({ lines: [...rules, ...rules], exclusions })],
    [
      'comments and spacing',
      policySet({
        lines: ['# new', ...rules.map((line) => line.replaceAll(' ', '  '))],
        exclusions,
      }),
    ],
    [
      'the order of the exclusions',
      policySet({
        lines: rules,
        exclusions: exclusions
          .split(/(?<=\n)/)
          .reverse()
          .join(''),
      }),
    ],
    [
      'the division into files',
      parsePolicySet([
        ...policyFiles({ exclusions }).filter(({ name }) => name !== 'policy.csv'),
        ...rules.map((text, at) => ({ name: `${9 - at}.csv`, text })),
      ]),
    ],
  ])('does not depend on %s', (_, set) => {
    expect(set.revision).toBe(base.revision)
  })

  test('differs for every difference in content', () => {
    const text = { model: widestModel, lines: rules, exclusions }
    const revisions = [
      policySet(text),
      policySet({ ...text, model: { ...widestModel, anyMethod: false } }),
      policySet({ ...text, model: { ...widestModel, path: { keyMatch: true, keyMatch2: false } } }),
      policySet({ ...text, lines: rules.slice(1) }),
      policySet({ ...text, lines: [...rules, 'p, viewer, /api/v1/orders, GET, deny'] }),
      policySet({ ...text, lines: [...rules, 'g, editor, viewer'] }),
      policySet({ ...text, lines: [...rules, 'g, viewer, editor'] }),
      policySet({ ...text, exclusions: '' }),
      policySet({ ...text, exclusions: exclusions.replace('GET', 'POST') }),
      policySet({ ...text, exclusions: exclusions.replace('own', 'mine') }),
    ].map(({ revision }) => revision)

    expect(new Set(revisions).size).toBe(revisions.length)
  })
})
