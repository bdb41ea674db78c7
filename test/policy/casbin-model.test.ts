import { describe, expect, test } from 'vitest'
import { casbinModels, matcherWith, modelText } from './casbin-models.ts'
import { policyFiles, policySet, problemsOf } from './policy-text.ts'

const placesOf = (text: string, lines?: readonly string[]) =>
  problemsOf(policyFiles({ modelText: text, ...(lines === undefined ? {} : { lines }) })).map(
    ({ file, line, column }) => [file, line, column].filter((part) => part !== undefined).join(':'),
  )
const withMatcher = (matcher: string) => modelText({ matcher })

describe('a model for casbin is refused', () => {
  test.each([
    ['eval()', withMatcher(matcherWith({ role: 'eval(p.sub)' }))],
    ['eval() in the effect', modelText({ effect: 'eval(p.eft)' })],
    ['keyMatch4()', withMatcher(matcherWith({ path: 'keyMatch4(r.obj, p.obj)' }))],
    ['globMatch()', withMatcher(matcherWith({ path: 'globMatch(r.obj, p.obj)' }))],
    ['ipMatch()', withMatcher(matcherWith({ role: 'ipMatch(r.sub, p.sub)' }))],
    ['keyGet()', withMatcher(matcherWith({ role: 'keyGet(r.obj, p.obj)' }))],
    ['keyGet2()', withMatcher(matcherWith({ role: 'keyGet2(r.obj, p.obj, "id")' }))],
    ['a function of its own', withMatcher(matcherWith({ role: 'isOwner(r.sub, p.sub)' }))],
    ['a method of a text', withMatcher(matcherWith({ role: 'r.sub.startsWith(p.sub)' }))],
    ['a property', withMatcher(matcherWith({ role: 'r.sub.name == p.sub' }))],
    ['a constructor', withMatcher(matcherWith({ role: 'r.sub.constructor == p.sub' }))],
    ['a bare identifier', withMatcher(matcherWith({ role: 'r.sub == hasOwnProperty' }))],
    ['this', withMatcher(matcherWith({ role: 'this == p.sub' }))],
    ['in', withMatcher(matcherWith({ method: 'r.act in ("GET", "POST")' }))],
    ['an ordering', withMatcher(matcherWith({ role: 'r.sub >= p.sub' }))],
    ['a sum', withMatcher(matcherWith({ role: 'r.sub + "x" == p.sub' }))],
    [
      'a choice',
      withMatcher(matcherWith({ role: 'r.sub == p.sub ? r.act == p.act : r.sub == "x"' })),
    ],
    ['a single &', withMatcher('r.sub == p.sub & r.obj == p.obj && r.act == p.act')],
    ['a strict equality', withMatcher(matcherWith({ role: 'r.sub === p.sub' }))],
    ['a negation read in two ways', withMatcher(matcherWith({ role: '!r.sub == p.sub' }))],
    ['two texts compared', withMatcher(matcherWith({ role: '"a" == "a"' }))],
    ['a text with an operator', withMatcher(matcherWith({ role: 'r.sub == "a&b"' }))],
    ['a text with a dollar', withMatcher(matcherWith({ role: 'r.sub == "$&"' }))],
    [
      'a text in which Casbin sees a field',
      withMatcher(`${matcherWith({})} || r.sub == "team-r.x"`),
    ],
    ['such a path', withMatcher(matcherWith({ path: 'r.obj == "/p2.json"' }))],
    ['an empty text', withMatcher(matcherWith({ role: 'r.sub == ""' }))],
    ['an unknown column', withMatcher(matcherWith({ role: 'r.sub == p.dom' }))],
    ['an unknown field', withMatcher(matcherWith({ role: 'r.dom == p.sub' }))],
    ['a pattern from the request', withMatcher(matcherWith({ path: 'keyMatch2(p.obj, r.obj)' }))],
    ['two sides from the request', withMatcher(matcherWith({ path: 'keyMatch(r.obj, r.sub)' }))],
    ['keyMatch2() on the role', withMatcher(matcherWith({ role: 'keyMatch2(r.sub, p.sub)' }))],
    ['regexMatch() on the path', withMatcher(matcherWith({ path: 'regexMatch(r.obj, p.obj)' }))],
    ['regexMatch() on the role', withMatcher(matcherWith({ role: 'regexMatch(r.sub, p.sub)' }))],
    ['three operands', withMatcher(matcherWith({ path: 'keyMatch(r.obj, p.obj, p.act)' }))],
    ['a pattern that hangs', withMatcher(matcherWith({ path: 'keyMatch2(r.obj, "/api/:")' }))],
    ['an open brace', withMatcher(matcherWith({ path: 'keyMatch3(r.obj, "/api/{")' }))],
    ['a path that no request has', withMatcher(matcherWith({ path: 'r.obj == "/a//b"' }))],
    ['a method that no request has', withMatcher(matcherWith({ method: 'r.act == "get"' }))],
    [
      'two ways to write parameters',
      withMatcher(matcherWith({ path: '(keyMatch2(r.obj, p.obj) || keyMatch3(r.obj, p.obj))' })),
    ],
    ['no column', withMatcher('r.sub == "a" && r.obj == "/b" && r.act == "GET"')],
    ['no role', withMatcher('keyMatch3(r.obj, p.obj) && r.act == p.act')],
    ['g() without a definition', withMatcher(matcherWith({ role: 'g(r.sub, "lead")' }))],
    [
      'g2() without a definition',
      modelText({
        roles: 'g = _, _',
        matcher: matcherWith({ role: 'g(r.sub, p.sub)', path: 'g2(r.obj, p.obj)' }),
      }),
    ],
    [
      'g2 that nothing calls',
      modelText({
        roles: 'g = _, _\ng2 = _, _',
        matcher: matcherWith({ role: 'g(r.sub, p.sub)' }),
      }),
    ],
    [
      'a domain that g() is not given',
      modelText({ roles: 'g = _, _, _', matcher: matcherWith({ role: 'g(r.sub, p.sub)' }) }),
    ],
    [
      'four places',
      modelText({
        roles: 'g = _, _, _, _',
        matcher: matcherWith({ role: 'g(r.sub, p.sub, p.obj, p.act)' }),
      }),
    ],
    ['one place', modelText({ roles: 'g = _', matcher: matcherWith({ role: 'g(r.sub)' }) })],
    [
      'a role definition of another name',
      modelText({ roles: 'h = _, _', matcher: matcherWith({ role: 'h(r.sub, p.sub)' }) }),
    ],
    [
      'an order by the subject',
      modelText({ columns: 'sub, obj, act, eft', effect: 'subjectPriority(p.eft) || deny' }),
    ],
    ['priority without a column for deny', modelText({ effect: 'priority(p.eft) || deny' })],
    ['two columns of one name', modelText({ columns: 'sub, sub, obj, act' })],
    ['a column without a name', modelText({ columns: 'sub, obj, act, ' })],
    ['a matcher longer than any', withMatcher(Array(500).fill('r.sub == p.sub').join(' || '))],
  ])('with %s', (_, text) => {
    expect(placesOf(text)).not.toEqual([])
    expect(placesOf(text).every((place) => place.startsWith('model.conf:'))).toBe(true)
  })

  test('with all its problems at once', () => {
    const text = modelText({
      effect: 'maybe',
      matcher: 'ipMatch(r.sub, p.sub) && keyMatch3(r.obj, p.dom) && regexMatch(r.act, p.act)',
    })

    expect(placesOf(text)).toEqual(['model.conf:8', 'model.conf:11', 'model.conf:11'])
  })
})

describe('a row for casbin is refused at load', () => {
  const by = (matcher: string) => modelText({ matcher })
  const keyMatch2 = casbinModels.superuser
  const keyMatch3 = by(matcherWith({ path: '(keyMatch3(r.obj, p.obj) || p.obj == "*")' }))
  const regexMatch = by(
    matcherWith({
      path: 'keyMatch3(r.obj, p.obj)',
      method: '(regexMatch(r.act, p.act) || p.act == "*")',
    }),
  )
  const prefix = by(matcherWith({ role: 'keyMatch(r.sub, p.sub)' }))
  const domains = casbinModels.domains
  const priority = casbinModels['explicit priority']

  test.each([
    ['that would hang keyMatch2', keyMatch2, 'p, editor, /api/:, GET', 12],
    ['that would hang keyMatch3', keyMatch3, 'p, editor, /api/{, GET', 12],
    ['that would hang keyMatch3 as well', keyMatch3, 'p, editor, /api/{}, GET', 12],
    ['with half a parameter', keyMatch3, 'p, editor, /api/x{id}, GET', 12],
    ['with a parameter of the other kind', keyMatch3, 'p, editor, /api/:id, GET', 12],
    ['that would make keyMatch3 throw', keyMatch3, 'p, editor, *, GET', 12],
    ['that would make keyMatch2 throw', keyMatch2, 'p, editor, /a[, GET', 12],
    ['whose stars would backtrack', keyMatch2, 'p, editor, /a/*/b/*/c, GET', 12],
    ['whose dot would be any character', keyMatch2, 'p, editor, /a.json, GET', 12],
    ['whose colon would be a parameter', keyMatch2, 'p, editor, /a:b/:id, GET', 12],
    ['whose star would repeat a letter', keyMatch2, 'p, editor, /ab*, GET', 12],
    ['that would make regexMatch throw', regexMatch, 'p, editor, /a, *', 16],
    ['that would make regexMatch backtrack', regexMatch, 'p, editor, /a, (G+)+ET', 16],
    ['with a method that is none', regexMatch, 'p, editor, /a, (GET)|(FETCH)', 16],
    ['that would also allow PROPPATCH', regexMatch, 'p, editor, /a, (GET)|(PATCH)', 16],
    [
      'that would allow it although it looks anchored',
      regexMatch,
      'p, editor, /a, ^(GET)|(PATCH)$',
      16,
    ],
    ['with part of a method', regexMatch, 'p, editor, /a, GE', 16],
    ['with a method in small letters', keyMatch2, 'p, editor, /a, get', 16],
    ['with a star in the middle of a role', prefix, 'p, team-*-x, /a, GET', 4],
    ['with a column too few', domains, 'p, lead, /north, GET', 1],
    ['with a column too many', domains, 'p, lead, north, /north, GET, x', 30],
    ['with invisible characters', domains, 'p, lead, no\u200Brth, /north, GET', 10],
    ['with a priority that is no number', priority, 'p, high, editor, /a, GET, allow', 4],
    ['with an effect that is none', priority, 'p, 1, editor, /a, GET, maybe', 24],
    ['with a domain too few', domains, 'g, editor, lead', 1],
    ['of a relation that the model has not', domains, 'g2, editor, lead', 1],
    ['of an inheritance without a model for it', keyMatch2, 'g, editor, lead', 1],
  ])('%s', (_, text, line, column) => {
    expect(placesOf(text, [line])).toContain(`policy.csv:1:${column}`)
  })

  test('with a deny that the effect ignores', () => {
    const text = modelText({
      columns: 'sub, obj, act, eft',
      matcher: matcherWith({ path: 'keyMatch3(r.obj, p.obj)' }),
    })

    expect(placesOf(text, ['p, editor, /a, GET, deny'])).toEqual(['policy.csv:1:21'])
  })

  test('whole, for one bad row among ten thousand', () => {
    const lines = Array.from({ length: 10_000 }, (_, at) => `p, editor, /api/v1/things/${at}, GET`)
    lines[7_776] = 'p, editor, /api/v1/things/:, GET'

    expect(placesOf(keyMatch2, lines)).toEqual(['policy.csv:7777:12'])
  })
})

describe('a list of methods', () => {
  const method = 'regexMatch(r.act, p.act)'
  const models = [
    withMatcher(matcherWith({ method })),
    withMatcher(matcherWith({ path: 'keyMatch3(r.obj, p.obj)', method })),
  ]
  const problemsOfList = (list: string) =>
    models.map((modelText) => {
      const lines = [`p, editor, /a, ${list}`]
      return problemsOf(policyFiles({ modelText, lines })).map(({ message }) => message)
    })

  test.each([
    ...['GET', '(GET)|(POST)', 'GET|POST', '(GET|POST)|PUT', '^GET$', '^(GET|PATCH)$', '^PATCH'],
    ...['^GET$|^POST$', '^(?:GET|HEAD)$', '.*', '.+', '^.*$', '(.*)', '^(.+)$'],
  ])('may be written as %s, for the index and for casbin', (list) => {
    expect(problemsOfList(list)).toEqual([[], []])
  })

  test.each([
    ['*', 'is not a list of methods'],
    ['[', 'is not a list of methods'],
    ['(a+)+$', 'is not a list of methods'],
    ['(.*)*', 'is not a list of methods'],
    ['^$', 'is not a list of methods'],
    ['()', 'is not a list of methods'],
    ['GET|', 'is not a list of methods'],
    ['.', 'is not a list of methods'],
    ['GE', 'is not a list of methods'],
    ['G|P', 'is not a list of methods'],
    ['[GP]ET', 'is not a list of methods'],
    ['(?!GET)', 'is not a list of methods'],
    ['PROPFIND', 'is not a list of methods'],
    [Array(60).fill('GET').join('|'), 'is not a list of methods'],
    ['get', 'methods are case-sensitive, write "GET"'],
    ['^(Get|post)$', 'methods are case-sensitive, write "^(GET|POST)$"'],
    ['PATCH', 'also matches PROPPATCH: write "^(PATCH)$"'],
    ['GET|PATCH$|GET', 'also matches PROPPATCH: write "^(GET|PATCH)$"'],
  ])('may not be written as %s', (list, problem) => {
    const found = expect.stringContaining(problem)

    expect(problemsOfList(list)).toEqual([[found], [found]])
  })
})

describe('an inheritance for casbin', () => {
  const rule = 'p, lead, north, /north, GET'

  test('may go in a circle that crosses domains, but not within one', () => {
    expect(placesOf(casbinModels.domains, [rule, 'g, a, b, north', 'g, b, a, south'])).toEqual([])
    expect(placesOf(casbinModels.domains, [rule, 'g, a, b, north', 'g, b, a, north'])).toHaveLength(
      1,
    )
  })

  test('of roles says nothing about one of resources', () => {
    const { inheritances } = policySet({
      modelText: casbinModels['resource groups'],
      lines: ['p, staff, sales, GET', 'g, x, y', 'g2, y, x', 'g2, x, z', 'g, x, y'],
    })

    expect(inheritances.map(({ relation = 'g', roleKey }) => `${relation} ${roleKey}`)).toEqual([
      'g x',
      'g2 y',
      'g2 x',
    ])
  })
})

describe('a text that the matcher names', () => {
  const matcher = matcherWith({
    path: '(keyMatch2(r.obj, p.obj) || p.obj == "*")',
    method: '(r.act == p.act || p.act == "ALL")',
  })

  test('is allowed in its column although it is no pattern and no method', () => {
    expect(placesOf(withMatcher(matcher), ['p, editor, *, ALL'])).toEqual([])
  })

  test('is not allowed in another column', () => {
    expect(placesOf(withMatcher(matcher), ['p, editor, /a, *'])).toEqual(['policy.csv:1:16'])
  })
})
