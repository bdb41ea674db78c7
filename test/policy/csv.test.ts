import { describe, expect, test } from 'vitest'
import { type PolicyText, policyFiles, policySet, problemsOf, widestModel } from './policy-text.ts'

const plain = { inheritance: false, effectColumn: false, denyOverrides: false }
const strictModel = { ...widestModel, ...plain, anyMethod: false }
const placesOf = (text: PolicyText) =>
  problemsOf(policyFiles(text)).map(({ file, line, column }) => `${file}:${line}:${column}`)

describe('a policy line', () => {
  test.each([
    ['p, editor, /api/v1/orders, GET'],
    ['p,editor,/api/v1/orders,GET'],
    ['  p ,\teditor , /api/v1/orders ,GET  '],
    ['"p", "editor", "/api/v1/orders", "GET"'],
    ['p, " editor ", /api/v1/orders, GET\r'],
    ['\uFEFFp, editor, /api/v1/orders, GET'],
    ['p, editor, /api/v1/orders, GET\n\n# a comment, with commas\n   # another'],
  ])('is read as casbin reads it: %j', (line) => {
    const [rule, ...more] = policySet({ lines: [line] }).rules

    expect(more).toEqual([])
    expect(rule).toMatchObject({ roleKey: 'editor', path: '/api/v1/orders', method: 'GET' })
    expect(rule?.effect).toBe('allow')
  })

  test('keeps its file and line', () => {
    const { rules } = policySet({ lines: ['# who', '', 'p, a, /x, GET', 'p, a, /y, GET'] })

    expect(rules.map(({ origin }) => origin)).toEqual([
      { file: 'policy.csv', line: 3 },
      { file: 'policy.csv', line: 4 },
    ])
  })

  test('may hold a comma in quotes', () => {
    const { rules } = policySet({ lines: ['p, "clerk, north", "/api/a,b", GET'] })

    expect(rules).toMatchObject([{ roleKey: 'clerk, north', path: '/api/a,b' }])
  })

  test('may have an effect when the model has a column for it, and allows without one', () => {
    const lines = ['p, a, /x, GET, deny', 'p, a, /y, GET, allow', 'p, a, /z, GET']

    const { rules } = policySet({ model: widestModel, lines })

    expect(rules.map(({ effect }) => effect)).toEqual(['deny', 'allow', 'allow'])
  })

  test.each([
    // packages.md 5.3, hazards 6 and 12: casbin loads all of these without a word.
    ['an unknown type', 'x, editor, /api, GET', 1],
    ['a type of another model', 'p2, editor, /api, GET', 1],
    ['a type in upper case', 'P, editor, /api, GET', 1],
    ['no method', 'p, editor, /api', 1],
    ['no path', 'p, editor', 1],
    ['nothing but its type', 'p', 1],
    ['a column too many', 'p, editor, /api, GET, allow', 23],
    ['a comma at the end', 'p, editor, /api, GET,', 22],
    ['an empty role', 'p, , /api, GET', 4],
    ['an empty path', 'p, editor, "", GET', 12],
    ['an empty method', 'p, editor, /api, ', 18],
    ['a method in lower case', 'p, editor, /api, get', 18],
    ['an unknown method', 'p, editor, /api, FETCH', 18],
    ['several methods', 'p, editor, /api, GET|POST', 18],
    ['a comment at its end', 'p, editor, /api, GET # reads', 22],
    ['a comment with a comma', 'p, editor, /api, GET # reads, always', 22],
    ['a comment without a blank', 'p, editor, /api, GET#reads', 21],
    ['a comment after the path', 'p, editor, /api # reads, GET', 17],
    ['a path that casbin hangs on', 'p, editor, /api/v1/:, GET', 12],
    ['a path that casbin throws on', 'p, editor, /api/[a, GET', 12],
    ['an invisible character in the role', 'p, edi\u200Btor, /api, GET', 4],
    ['a letter that shows nothing in the role', 'p, editor\u3164, /api, GET', 4],
    ['a variation selector in the role', 'p, editor\ufe0f, /api, GET', 4],
    ['a blank of Braille in the role', 'p, editor\u2800, /api, GET', 4],
    ['a control character in the role', 'p, edi\u0007tor, /api, GET', 4],
    ['half a surrogate pair in the role', 'p, edi\uD800tor, /api, GET', 4],
    ['a bracket that casbin would join columns at', 'p, edi(tor, /api, GET', 4],
    ['a quote inside a field', 'p, edi"tor, /api, GET', 1],
    ['a quote without end', 'p, "editor, /api, GET', 1],
    ['text after a quote', 'p, "edi"tor, /api, GET', 1],
    ['doubled quotes', 'p, "edi""tor", /api, GET', 1],
    ['inheritance that the model does not know', 'g, editor, viewer', 1],
    ['a star that the model gives no meaning', 'p, editor, /api, *', 18],
  ])('with %s is refused with its place', (_, line, column) => {
    const good = 'p, viewer, /api/v1/orders, GET'

    expect(placesOf({ model: strictModel, lines: [good, line, good] })).toEqual([
      `policy.csv:2:${column}`,
    ])
  })

  test.each([
    ['an unknown effect', 'p, a, /x, GET, maybe', 16],
    ['an effect in upper case', 'p, a, /x, GET, DENY', 16],
    ['an empty effect', 'p, a, /x, GET, ', 16],
    ['a parent too many', 'g, a, b, c', 10],
    ['no parent', 'g, a', 1],
    ['an empty parent', 'g, a, ', 7],
  ])('with %s is refused under a model with all columns', (_, line, column) => {
    const lines = ['p, a, /x, GET', line]

    expect(placesOf({ model: widestModel, lines })).toEqual([`policy.csv:2:${column}`])
  })

  test('with several bad fields is told each of them', () => {
    const lines = ['p, edi(tor, /api/:, get, maybe', 'g, a(, b(']

    expect(placesOf({ model: widestModel, lines })).toEqual([
      'policy.csv:1:4',
      'policy.csv:1:13',
      'policy.csv:1:21',
      'policy.csv:1:26',
      'policy.csv:2:4',
      'policy.csv:2:8',
    ])
  })

  test.each(['\r', '\v', '\f', '\u0085', '\u2028', '\u2029'])(
    'that a comment would hide behind a line end of others (%j) is found',
    (end) => {
      const lines = ['p, a, /*, *', `# as before${end}p, a, /secret, GET, deny`]

      expect(problemsOf(policyFiles({ model: widestModel, lines }))).toMatchObject([
        { file: 'policy.csv', line: 2, message: expect.stringContaining('would hide') },
      ])
    },
  )

  test('that denies is refused when the effect of the model would ignore it', () => {
    const model = { ...widestModel, denyOverrides: false }

    expect(placesOf({ model, lines: ['p, a, /x, GET, deny'] })).toEqual(['policy.csv:1:16'])
  })
})
