import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decide } from '../../src/policy/decide.ts'
import { diffPolicies } from '../../src/policy/diff/diff.ts'
import { compile } from '../../src/policy/engine/compile.ts'
import { canonicalPath } from '../../src/policy/rule/canonical-path.ts'
import { METHODS } from '../../src/policy/rule/rule.ts'
import { formatModel } from '../../src/policy/set/format.ts'
import { matcherWith, modelText as textOfModel } from './casbin-models.ts'
import { type Expanded, expand } from './expand-diff.ts'
import { type PolicyText, policySet, widestModel } from './policy-text.ts'

function folded(before: PolicyText, after: PolicyText) {
  return diffPolicies(
    policySet({ model: widestModel, ...before }),
    policySet({ model: widestModel, ...after }),
  )
}

function diff(before: PolicyText, after: PolicyText) {
  const { widened, ...found } = folded(before, after)
  return { ...expand({ widened, ...found }), widened }
}

function inWords({ roleKey = 'everybody', methods, path }: Expanded): string {
  return `${roleKey} ${methods.join('|')} ${path}`
}

describe('the access diff of two policies', () => {
  test.each([
    [
      'the lines in another order',
      ['p, a, /x, GET', 'p, b, /y, GET'],
      ['p, b, /y, GET', 'p, a, /x, GET'],
    ],
    [
      'a rule that a wider pattern covers',
      ['p, c, /o/*, GET'],
      ['p, c, /o/*, GET', 'p, c, /o/:id, GET'],
    ],
    ['a rule that a wider method covers', ['p, c, /o, *'], ['p, c, /o, *', 'p, c, /o, GET']],
    ['a rule that a prefix covers', ['p, c, /o*, GET'], ['p, c, /o*, GET', 'p, c, /order/*, GET']],
    ['a parameter with another name', ['p, c, /o/:id, GET'], ['p, c, /o/:key, GET']],
    [
      'a rule that the parent has',
      ['p, d, /o, GET', 'g, c, d'],
      ['p, d, /o, GET', 'g, c, d', 'p, c, /o, GET'],
    ],
    [
      'a rule moved to the parent',
      ['p, c, /o, GET', 'g, d, c', 'p, d, /x, GET'],
      ['p, c, /o, GET', 'g, d, c', 'p, d, /x, GET', 'p, d, /o, GET'],
    ],
    [
      'a rule that several rules cover together',
      ['p, c, /o/, GET', 'p, c, /o/:id, GET', 'p, c, /o/:id/*, GET'],
      ['p, c, /o/*, GET'],
    ],
    ['a rule for admin', ['p, c, /x, GET'], ['p, c, /x, GET', 'p, admin, /x, GET']],
    ['a deny of what nothing allows', ['p, c, /x, GET'], ['p, c, /x, GET', 'p, c, /y, GET, deny']],
    [
      'a deny that another one covers taken out',
      ['p, c, /x, GET', 'p, c, /x, GET, deny', 'p, c, /*, *, deny'],
      ['p, c, /x, GET', 'p, c, /*, *, deny'],
    ],
    [
      'a deny whose parameter has another name',
      ['p, c, /*, GET', 'p, c, /o/:id/x, GET, deny'],
      ['p, c, /*, GET', 'p, c, /o/:key/x, GET, deny'],
    ],
  ])('is empty for %s', (_, before, after) => {
    const { gains, losses, widened } = diff({ lines: before }, { lines: after })

    expect({ gains, losses, widened }).toEqual({ gains: [], losses: [], widened: false })
  })

  test.each([
    [
      'a new rule',
      ['p, c, /x, GET'],
      ['p, c, /x, GET', 'p, c, /o/:id, DELETE'],
      ['c DELETE /o/:id'],
    ],
    [
      'a wider method',
      ['p, c, /x, GET'],
      ['p, c, /x, *'],
      ['c HEAD|POST|PUT|PATCH|DELETE|OPTIONS|CONNECT|TRACE|other /x'],
    ],
    [
      'a wider pattern',
      ['p, c, /x/:id, GET'],
      ['p, c, /x/:id, GET', 'p, c, /x/*, GET'],
      ['c GET /x/*'],
    ],
    ['a new parent', ['p, lead, /a/*, *'], ['p, lead, /a/*, *', 'g, c, lead'], ['c * /a/*']],
    [
      'a rule of a grandparent, for every heir',
      ['p, c, /x, GET', 'g, a, b', 'g, b, c'],
      ['p, c, /x, GET', 'g, a, b', 'g, b, c', 'p, c, /y, PUT'],
      ['a PUT /y', 'b PUT /y', 'c PUT /y'],
    ],
    [
      'narrow rules beside a wide one, once',
      ['p, c, /x, GET'],
      ['p, c, /x, GET', 'p, c, /o/:id, GET', 'p, c, /o/*, *', 'p, c, /o/:id/lines, GET'],
      ['c * /o/*'],
    ],
    [
      'a deny taken out',
      ['p, c, /o/*, *', 'p, c, /o/7, PUT, deny'],
      ['p, c, /o/*, *'],
      ['c PUT /o/7'],
    ],
    [
      'a deny made narrower',
      ['p, c, /o/*, GET', 'p, c, /o/:id, GET, deny'],
      ['p, c, /o/*, GET', 'p, c, /o/7, GET, deny'],
      ['c GET /o/:id'],
    ],
    [
      'a parent with a deny taken away',
      ['p, c, /o/*, GET', 'p, d, /o/7, GET, deny', 'g, c, d'],
      ['p, c, /o/*, GET', 'p, d, /o/7, GET, deny'],
      ['c GET /o/7'],
    ],
  ])('names as a gain %s, and as a loss on the way back', (_, before, after, expected) => {
    const there = diff({ lines: before }, { lines: after })
    const back = diff({ lines: after }, { lines: before })

    expect({ gains: there.gains.map(inWords), losses: there.losses }).toEqual({
      gains: expected,
      losses: [],
    })
    expect({ gains: back.gains, losses: back.losses.map(inWords) }).toEqual({
      gains: [],
      losses: expected,
    })
    expect([there.widened, back.widened]).toEqual([true, false])
  })

  test('shows a path, the place of the rule, and whose it is', () => {
    const { gains } = diff(
      { lines: ['p, lead, /orders/x, GET', 'g, clerk, lead'] },
      { lines: ['p, lead, /orders/x, GET', 'g, clerk, lead', 'p, lead, /orders/:id, GET'] },
    )

    expect(gains[0]).toEqual({
      roleKey: 'clerk',
      cause: 'allow',
      methods: ['GET'],
      path: '/orders/:id',
      example: { method: 'GET', path: '/orders/7' },
      certain: true,
      owner: 'lead',
      origin: { file: 'policy.csv', line: 3 },
    })
  })

  const profile = '- { method: GET, path: /me, reason: ones own }\n'
  const export_ = '- { method: GET, path: /orders/export, reason: because }\n'
  test('names a new exclusion as a gain of everybody, whoever had a rule for it', () => {
    const lines = ['p, c, /orders/export, GET']

    const { gains, losses } = diff(
      { lines, exclusions: profile },
      { lines, exclusions: profile + export_ },
    )

    expect({ gains: gains.map(inWords), losses }).toEqual({
      gains: ['everybody GET /orders/export'],
      losses: [],
    })
    expect(gains[0]?.origin).toEqual({ file: 'exclusions.yaml', line: 2 })
  })

  test('knows that a rule for what was excluded gives nothing', () => {
    const { gains, losses } = diff(
      { lines: ['p, c, /x, GET'], exclusions: profile },
      { lines: ['p, c, /x, GET', 'p, c, /me, GET'] },
    )

    expect({ gains, losses: losses.map(inWords) }).toEqual({
      gains: [],
      losses: ['everybody GET /me'],
    })
  })

  test('says so when it gives up, and then rather reports a gain', () => {
    // At every level a word and any other text lead to different denies: places double each time.
    const places = Array.from({ length: 20 }, (_, at) => at)
    const denyAt = (word: number) =>
      `p, c, /${places.map((at) => (at === word ? 'word' : ':x')).join('/')}, GET, deny`
    const denies = places.slice(1).map(denyAt)
    const parts = ['p, c, /word/, GET', 'p, c, /word/:id, GET', 'p, c, /word/:id/*, GET']

    const { gains } = diff(
      { lines: [...denies, ...parts] },
      { lines: [...denies, 'p, c, /word/*, GET'] },
    )

    expect(gains).toMatchObject([{ certain: false, example: undefined }])
    expect(gains.map(inWords)).toEqual(['c GET /word/*'])
  })
})

const segment = fc.constantFrom('a', 'b', 'ab', 'abc', 'x', ':id', ':k')
const pattern = fc
  .tuple(
    fc.array(segment, { minLength: 1, maxLength: 4 }),
    fc.constantFrom('', '', '', '/', '/*', '*'),
  )
  .map(([segments, tail]) => {
    const path = `/${segments.join('/')}`
    return tail === '*' && path.includes(':') ? path : path + tail
  })
const roleKey = fc.constantFrom('a', 'b', 'c', 'd')
const method = fc.constantFrom('GET', 'PUT', '*')
const ruleLine = fc
  .tuple(roleKey, pattern, method, fc.constantFrom('allow', 'allow', 'deny'))
  .map(([role, path, verb, effect]) => `p, ${role}, ${path}, ${verb}, ${effect}`)
const heirLine = fc.constantFrom('g, a, b', 'g, a, c', 'g, b, d', 'g, c, d')
const exclusion = fc
  .tuple(fc.constantFrom('/a', '/a/b', '/a/:id', '/x/:id/b'), fc.constantFrom('GET', 'PUT'))
  .map(([path, verb]) => `- { method: ${verb}, path: ${path}, reason: why }`)

const lines = fc
  .tuple(fc.array(ruleLine, { minLength: 1, maxLength: 12 }), fc.array(heirLine, { maxLength: 3 }))
  .map(([rules, heirs]) => [...rules, ...heirs])
const exclusions = fc.array(exclusion, { maxLength: 2 }).map((entries) => entries.join('\n'))
const widest = formatModel(widestModel)
const superuser = widest.replace(/^m = (.*)$/m, 'm = $1 || r.sub == "a" || g(r.sub, "d")')
const lists = widest.replace(
  'r.act == p.act || p.act == "*"',
  'p.act == "*" || regexMatch(r.act, p.act)',
)
const modelText = fc.constantFrom(widest, widest, widest, superuser, lists)
/** Two policies that have much in common, as an edit leaves them. */
const edit = fc
  .record({
    ...{ common: lines, before: lines, after: lines, oldList: exclusions, newList: exclusions },
    ...{ oldModel: modelText, newModel: modelText, denies: fc.boolean() },
  })
  .map(({ common, before, after, oldList, newList, oldModel, newModel, denies }) => {
    // One deny rule denies every call to a superuser.
    const of = (added: readonly string[]) =>
      [...common, ...added].map((line) => (denies ? line : line.replace(/deny$/, 'allow')))
    return {
      before: policySet({ modelText: oldModel, lines: of(before), exclusions: oldList }),
      after: policySet({ modelText: newModel, lines: of(after), exclusions: newList }),
    }
  })

const path = fc
  .tuple(
    fc.array(fc.constantFrom('a', 'b', 'ab', 'abc', 'abcd', 'x', 'new'), {
      minLength: 1,
      maxLength: 5,
    }),
    fc.constantFrom('', '', '/'),
  )
  .map(([segments, tail]) => `/${segments.join('/')}${tail}`)
const question = fc.record({
  roleKey: fc.constantFrom('a', 'b', 'c', 'd', 'stranger', 'admin'),
  method: fc.constantFrom('GET', 'PUT', 'POST', 'PROPFIND'),
  path,
})

const casbinModel = `[request_definition]
r = sub, obj, act
[policy_definition]
p = sub, obj, act, eft
[role_definition]
g = _, _
[policy_effect]
e = some(where (p.eft == allow)) && !some(where (p.eft == deny))
[matchers]
m = g(r.sub, p.sub) && keyMatch3(r.obj, p.obj) && regexMatch(r.act, p.act)
`
const get = 'p, c, /x, GET'

describe('the access diff when casbin answers', () => {
  function casbinDiff(before: readonly string[], after: readonly string[], model = casbinModel) {
    const { gains, losses } = expand(
      diffPolicies(
        policySet({ modelText: casbinModel, lines: before }),
        policySet({ modelText: model, lines: after }),
      ),
    )
    const places = (changes: readonly Expanded[]) =>
      changes.map(({ origin }) => `${origin.file}:${origin.line}`)
    return { gains: places(gains), losses: places(losses) }
  }

  test.each([
    ['a new rule may be a gain', [get], [get, 'p, c, /y, GET'], ['policy.csv:2'], []],
    ['a rule taken out may be a loss', [get, 'p, c, /y, GET'], [get], [], ['policy.csv:2']],
    ['a new deny may be a loss', [get], [get, 'p, c, /x, PUT, deny'], [], ['policy.csv:2']],
    ['a deny taken out may be a gain', [get, 'p, c, /x, PUT, deny'], [get], ['policy.csv:2'], []],
    ['other roles may be anything', [get], [get, 'g, d, c'], ['model.conf:1'], ['model.conf:1']],
    ['the same lines are nothing', [get, 'g, d, c'], ['g, d, c', get], [], []],
    [
      'roles that differ in where a comma is may be anything',
      [get, 'g, a, p', 'g, "q,r", c'],
      [get, 'g, a, "p,q"', 'g, r, c'],
      ['model.conf:1'],
      ['model.conf:1'],
    ],
  ])('%s', (_, before, after, gains, losses) => {
    expect(casbinDiff(before, after)).toEqual({ gains, losses })
  })

  test('another model may be anything, and none of it is certain', () => {
    const model = casbinModel.replace('keyMatch3(', 'keyMatch5(')
    const [gain] = expand(
      diffPolicies(
        policySet({ modelText: casbinModel, lines: [get] }),
        policySet({ modelText: model, lines: [get] }),
      ),
    ).gains

    expect(gain).toMatchObject({ cause: 'casbin', certain: false, path: '/*', methods: ['*'] })
    expect(casbinDiff([get], [get], model)).toEqual({
      gains: ['model.conf:1'],
      losses: ['model.conf:1'],
    })
  })

  test('a policy by priority does not differ from itself', () => {
    const modelText = casbinModel.replace(/e = .*/, 'e = priority(p.eft) || deny')
    const lines = ['p, c, /x, GET, deny', 'p, c, /x, GET, allow']
    const swapped = lines.toReversed()

    const same = diffPolicies(policySet({ modelText, lines }), policySet({ modelText, lines }))
    const other = diffPolicies(
      policySet({ modelText, lines }),
      policySet({ modelText, lines: swapped }),
    )

    expect(same).toMatchObject({ changes: [], widened: false })
    expect(other.widened).toBe(true)
  })

  test('exclusions are compared as ever', () => {
    const exclusions = '- { method: GET, path: /me, reason: ones own }'

    const { gains } = expand(
      diffPolicies(
        policySet({ modelText: casbinModel, lines: [get] }),
        policySet({ modelText: casbinModel, lines: [get], exclusions }),
      ),
    )

    expect(gains).toMatchObject([{ cause: 'exclusion', certain: true, path: '/me' }])
  })
})

describe('the access diff of superusers and lists of methods', () => {
  const rules = matcherWith({ role: 'g(r.sub, p.sub)', path: 'keyMatch2(r.obj, p.obj)' })
  const by = (matcher: string) => textOfModel({ roles: 'g = _, _', matcher })
  const roleLines = ['p, clerk, /a, GET', 'g, lead, root']

  test('shows a new superuser before all else, with the clause', () => {
    const { changes } = folded(
      { modelText: by(rules), lines: roleLines },
      {
        modelText: by(`${rules} || r.sub == "root"`),
        lines: [...roleLines, 'p, clerk, /b, GET'],
        exclusions: '- { method: GET, path: /me, reason: ones own }',
      },
    )

    expect(changes.map(({ severity, roleKey }) => [severity, roleKey])).toEqual([
      ['superuser', 'root'],
      ['unchecked', undefined],
      ['reading', 'clerk'],
    ])
    expect(changes[0]).toMatchObject({
      direction: 'gain',
      line: 'added',
      text: 'r.sub == "root"',
      origin: { file: 'model.conf', line: 1 },
      shares: [{ roles: ['root'], grants: [{ methods: ['*'], path: '/*', certain: true }] }],
    })
  })

  test('folds the roles that become superusers by inheritance', () => {
    const { changes } = folded(
      { modelText: by(rules), lines: [...roleLines, 'g, boss, root'] },
      { modelText: by(`${rules} || g(r.sub, "root")`), lines: [...roleLines, 'g, boss, root'] },
    )

    expect(changes).toMatchObject([
      { roleKey: 'root', shares: [{ roles: ['boss', 'lead', 'root'] }] },
    ])
  })

  test('shows a role that becomes a superuser by a new line', () => {
    const modelText = by(`${rules} || g(r.sub, "root")`)
    const { gains } = diff(
      { modelText, lines: roleLines },
      { modelText, lines: [...roleLines, 'g, boss, root'] },
    )

    expect(gains.map(inWords)).toEqual(['boss * /*'])
  })

  test('shows what a deny rule takes from a superuser, and gives back', () => {
    const modelText = widest.replace(/^m = (.*)$/m, 'm = $1 || r.sub == "root"')
    const before = { modelText, lines: ['p, clerk, /a, GET'] }
    const after = { modelText, lines: ['p, clerk, /a, GET', 'p, guest, /b, GET, deny'] }

    expect(folded(before, after).changes).toMatchObject([
      {
        direction: 'loss',
        line: 'added',
        roleKey: 'root',
        origin: { file: 'policy.csv', line: 2 },
      },
    ])
    expect(folded(after, before).changes).toMatchObject([
      { direction: 'gain', line: 'removed', severity: 'superuser', roleKey: 'root' },
    ])
  })

  test('shows what a denied superuser gains without its clause', () => {
    const lines = ['p, root, /a, GET', 'p, guest, /b, GET, deny']
    const { gains } = diff(
      { modelText: widest.replace(/^m = (.*)$/m, 'm = $1 || r.sub == "root"'), lines },
      { modelText: widest, lines },
    )

    expect(gains.map(inWords)).toEqual(['root GET /a'])
  })

  test('says nothing about a superuser that stays one, whatever its rules', () => {
    const modelText = by(`${rules} || r.sub == "root"`)
    const { gains, losses } = diff(
      { modelText, lines: ['p, clerk, /a, GET', 'p, root, /a, GET'] },
      { modelText, lines: ['p, clerk, /a, GET', 'p, root, /b, GET'] },
    )

    expect([gains, losses]).toEqual([[], []])
  })

  test('is exact for a list of methods', () => {
    const modelText = by(rules.replace('r.act == p.act', 'regexMatch(r.act, p.act)'))
    const { gains, losses } = diff(
      { modelText, lines: ['p, clerk, /a, (GET)|(PUT)'] },
      { modelText, lines: ['p, clerk, /a, ^(GET|POST)$'] },
    )

    expect([gains.map(inWords), losses.map(inWords)]).toEqual([['clerk POST /a'], ['clerk PUT /a']])
  })
})

describe('whatever two policies say', () => {
  test('no question that only the second one allows is without its gain', () => {
    let widened = 0

    fc.assert(
      fc.property(edit, fc.array(question, { minLength: 60, maxLength: 60 }), (sets, questions) => {
        const [before, after] = [compile(sets.before), compile(sets.after)]
        const found = diffPolicies(sets.before, sets.after)
        const { gains } = expand(found)
        const { widened: said } = found
        for (const each of questions) {
          if (decide(each, before).allowed || !decide(each, after).allowed) continue
          widened++
          const names = METHODS.includes(each.method) ? each.method : 'other'
          const reported = gains.some(
            (gain) =>
              (gain.roleKey === each.roleKey || gain.roleKey === undefined) &&
              (gain.methods.includes(names) || gain.methods.includes('*')) &&
              covers(gain.path, each.path),
          )
          expect({ each, reported, said }).toEqual({ each, reported: true, said: true })
        }
      }),
      { numRuns: 1000 },
    )

    expect(widened).toBeGreaterThan(300)
  })

  test('every gain is one: its example was refused before and is allowed now', () => {
    let shown = 0

    fc.assert(
      fc.property(edit, (sets) => {
        const [before, after] = [compile(sets.before), compile(sets.after)]
        for (const gain of expand(diffPolicies(sets.before, sets.after)).gains) {
          const { example = { method: '', path: '' }, roleKey: role = 'stranger' } = gain
          const method = example.method === 'other' ? 'PROPFIND' : example.method
          const asked = { roleKey: role, method, path: example.path }
          const verdict = {
            canonical: canonicalPath(asked.path) === asked.path,
            inside: covers(gain.path, asked.path),
            before: decide(asked, before).allowed,
            after: decide(asked, after).allowed,
          }
          expect({ gain, ...verdict }).toEqual({
            ...{ gain, canonical: true, inside: true, before: false, after: true },
          })
          shown++
        }
      }),
      { numRuns: 1000 },
    )

    expect(shown).toBeGreaterThan(300)
  })
})

/** Whether a pattern matches a path, by the engine. */
function covers(path: string, example: string): boolean {
  const lines = [`p, r, ${path}, GET`]
  const question = { roleKey: 'r', method: 'GET', path: example }
  return decide(question, compile(policySet({ lines }))).allowed
}
