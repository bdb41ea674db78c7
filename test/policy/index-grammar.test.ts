import { describe, expect, test } from 'vitest'
import { checkPolicySet } from '../../src/policy/checks/check.ts'
import { decide } from '../../src/policy/decide.ts'
import { explain } from '../../src/policy/explain.ts'
import { parsePolicySet } from '../../src/policy/set/policy-set.ts'
import { indexedModels, matcherWith, modelText } from './casbin-models.ts'
import { formatPolicyFiles } from './format-policy.ts'
import { policies, policyFiles, policySet, problemsOf } from './policy-text.ts'

type Name = keyof typeof indexedModels

const linesOf: Readonly<Record<Name, readonly string[]>> = {
  "Casbin's RESTful example": ['p, editor, /a/*, (GET)|(POST)', 'p, viewer, /b, .*'],
  'a superuser': ['p, editor, /a/:id, GET', 'p, viewer, /b, POST'],
  'two superusers first, and deny': ['p, editor, /a, GET', 'p, viewer, /b, *, deny'],
  'superusers by inheritance': [
    'p, editor, /a, ^(GET|PATCH)$',
    'p, viewer, /b, *',
    'g, lead, root',
  ],
}
const names = Object.keys(indexedModels) as Name[]
const compiledOf = (name: Name, lines = linesOf[name]) =>
  policies({ modelText: indexedModels[name], lines })
const answer = (name: Name, roleKey: string, method: string, path: string) => {
  const { allowed, step, rule, clause } = decide({ roleKey, method, path }, compiledOf(name))
  return [allowed, step, rule?.origin.line ?? '-', clause]
    .filter((part) => part !== undefined)
    .join(' ')
}

describe('a model that the index answers since it knows lists of methods and superusers', () => {
  test.each(names)('needs no casbin: %s', (name) => {
    expect(compiledOf(name).engine.name).toBe('index')
  })

  // Revisions are the names under which policies are approved and published.
  test.each<[Name, string]>([
    ["Casbin's RESTful example", 'r-d535d2c71cc983bced33b8f640ad68ff'],
    ['a superuser', 'r-09222ea6d8d89ca9c70c444b6aa239de'],
  ])('keeps the revision that it had when casbin answered: %s', (name, revision) => {
    expect(policySet({ modelText: indexedModels[name], lines: linesOf[name] }).revision).toBe(
      revision,
    )
  })

  test.each(names)('is written and read back the same: %s', (name) => {
    const set = policySet({ modelText: indexedModels[name], lines: linesOf[name] })

    const again = parsePolicySet(formatPolicyFiles(set))

    expect(again.revision).toBe(set.revision)
    expect(again.model).toEqual(set.model)
    expect(again.rules.map(({ fields }) => fields)).toEqual(set.rules.map(({ fields }) => fields))
  })

  test.each<[Name, string, string, string, string]>([
    ["Casbin's RESTful example", 'editor', 'POST', '/a/7', 'true rule 1'],
    ["Casbin's RESTful example", 'editor', 'PUT', '/a/7', 'false none -'],
    ["Casbin's RESTful example", 'editor', 'get', '/a/7', 'false none -'],
    ["Casbin's RESTful example", 'viewer', 'PROPFIND', '/b', 'true rule 2'],
    ['a superuser', 'editor', 'GET', '/a/7', 'true rule 1'],
    ['a superuser', 'root', 'DELETE', '/anything', 'true superuser - r.sub == "root"'],
    ['a superuser', 'Root', 'DELETE', '/anything', 'false none -'],
    ['two superusers first, and deny', 'editor', 'GET', '/a', 'true rule 1'],
    ['two superusers first, and deny', 'root', 'GET', '/a', 'false rule 2 r.sub == "root"'],
    ['two superusers first, and deny', 'ops', 'PUT', '/x', 'false rule 2 r.sub == "ops"'],
    ['superusers by inheritance', 'root', 'PUT', '/x', 'true superuser - g(r.sub, "root")'],
    ['superusers by inheritance', 'lead', 'PUT', '/x', 'true superuser - g(r.sub, "root")'],
    ['superusers by inheritance', 'editor', 'PROPPATCH', '/a', 'false none -'],
    ['superusers by inheritance', 'editor', 'PATCH', '/a', 'true rule 1'],
    ['superusers by inheritance', 'viewer', 'LOCK', '/b', 'true rule 2'],
  ])('with %s answers %s %s %s', (name, role, method, path, expected) => {
    expect(answer(name, role, method, path)).toBe(expected)
  })

  test('lets a superuser pass before admin is asked for nothing else', () => {
    const compiled = compiledOf('a superuser')

    expect(decide({ roleKey: 'admin', method: 'PUT', path: '/x' }, compiled).step).toBe('admin')
    expect(decide({ roleKey: 'root', method: 'POST', path: '/api/v1/logout' }, compiled).step).toBe(
      'exclusion',
    )
  })

  // Casbin would evaluate the matcher once with empty columns, and let the superuser pass.
  test('gives a superuser nothing without rules', () => {
    const compiled = compiledOf('a superuser', ['# postern: empty'])

    expect(decide({ roleKey: 'root', method: 'GET', path: '/x' }, compiled)).toBe(compiled.none)
  })

  test('names near misses by the methods of a list', () => {
    const compiled = compiledOf("Casbin's RESTful example")
    const question = { method: 'POST', path: '/a/7' }
    const misses = (roleKey: string, method: string) =>
      explain({ ...question, roleKey, method }, compiled).nearMisses.map(({ differs }) => differs)

    expect([misses('editor', 'PUT'), misses('viewer', 'POST'), misses('viewer', 'PUT')]).toEqual([
      ['method'],
      ['role'],
      [],
    ])
  })
})

describe('a matcher beside the rules', () => {
  const engineOf = (matcher: string, roles?: string) =>
    policies({ modelText: modelText({ matcher, ...(roles === undefined ? {} : { roles }) }) })
      .engine
  const rules = matcherWith({})
  const g = 'g = _, _'

  test.each([
    ['several names', `r.sub == "a" || ${rules} || r.sub == 'b'`],
    ['without parentheses, where && binds first', `${rules} || r.sub == "a"`],
    ['with parentheses', `((${rules}) || (r.sub == "a"))`],
    ['nested alternatives', `(r.sub == "a" || (r.sub == "b" || (${rules})))`],
    [
      'the star before the list',
      matcherWith({ method: '(p.act == "*" || regexMatch(r.act, p.act))' }),
    ],
  ])('is in the index grammar: %s', (_, matcher) => {
    expect(engineOf(matcher).name).toBe('index')
  })

  test.each([
    ['everyone but one', `${rules} || r.sub != "a"`, '"r.sub != \\"a\\"" is outside'],
    ['a method for everyone', `${rules} || r.act == "GET"`, '"r.act == \\"GET\\"" is outside'],
    ['a superuser of some paths', `${rules} || r.sub == "a" && r.obj == "/x"`, 'is outside'],
    ['two sets of rules', `${rules} || r.sub == "a" || ${rules}`, 'is outside'],
    [
      'a superuser within the rules',
      matcherWith({ role: '(r.sub == p.sub || r.sub == "a")' }),
      '"(r.sub == p.sub || r.sub == \\"a\\")" is outside',
    ],
    ['a negation', `${rules} || !(r.sub == "a")`, 'is outside'],
    [
      'a list from the matcher',
      matcherWith({ method: 'regexMatch(r.act, "GET") && r.act == p.act' }),
      'is outside',
    ],
  ])('is left to casbin: %s', (_, matcher, reason) => {
    expect(engineOf(matcher)).toMatchObject({
      name: 'casbin',
      reason: expect.stringContaining(reason),
    })
  })

  test('does not blame lists of methods for an invalid model', () => {
    const files = policyFiles({
      modelText: modelText({ matcher: 'regexMatch(r.act, p.act) && ipMatch(r.sub, p.sub)' }),
      lines: ['p, editor, /a, (GET)|(POST)', 'p, editor, /a, *'],
    })

    expect(problemsOf(files).map(({ file }) => file)).not.toContain('policy.csv')
  })

  test('is left to casbin if only the superuser clause inherits', () => {
    expect(engineOf(`${rules} || g(r.sub, "a")`, g).name).toBe('casbin')
  })

  test('does not match "*" when the list is asked first, as casbin would throw', () => {
    const method = '(regexMatch(r.act, p.act) || p.act == "*")'
    const files = policyFiles({
      modelText: modelText({ matcher: matcherWith({ method }) }),
      lines: ['p, editor, /a, *'],
    })

    expect(() => parsePolicySet(files)).toThrow(
      expect.objectContaining({
        problems: [
          expect.objectContaining({ message: expect.stringContaining('or ".*" for all') }),
        ],
      }),
    )
  })
})

describe('checking superusers and lists of methods', () => {
  const findings = (name: Name, lines: readonly string[], mentioned: readonly string[] = []) => {
    const files = policyFiles({ modelText: indexedModels[name], lines })
    const roles = mentioned.map((roleKey) => ({
      roleKey,
      at: { file: 'a_test.yaml', line: 1, column: 1 },
      withoutRules: false,
    }))
    return checkPolicySet(parsePolicySet(files), files, { mentioned: roles }).map(
      ({ file, line, code }) => `${file}:${line} ${code}`,
    )
  }

  test.each<[string, Name, string[], string[]]>([
    [
      'rules of a superuser',
      'a superuser',
      ['p, root, /a, GET', 'p, c, /b, GET'],
      ['policy.csv:1 never-applies'],
    ],
    [
      'a deny rule, which denies every call to a superuser',
      'two superusers first, and deny',
      ['p, c, /a, GET', 'p, c, /a, PUT, deny'],
      ['policy.csv:2 superuser-denied', 'policy.csv:2 superuser-denied'],
    ],
    [
      'a rule within the list of another one',
      "Casbin's RESTful example",
      ['p, c, /a, (GET)|(POST)', 'p, c, /a, POST', 'p, c, /b, ^(TRACE|CONNECT)$'],
      ['policy.csv:2 useless-rule', 'policy.csv:3 never-applies'],
    ],
    [
      'the later one of two lists that say the same',
      "Casbin's RESTful example",
      ['p, c, /a, (GET)|(POST)', 'p, c, /a, ^(POST|GET)$'],
      ['policy.csv:2 useless-rule'],
    ],
    ['nothing else', 'superusers by inheritance', ['p, c, /a, GET', 'g, lead, root'], []],
  ])('finds %s', (_, name, lines, expected) => {
    expect(findings(name, lines)).toEqual(expected)
  })

  test('takes a superuser in a test for a role with rules', () => {
    expect(findings('a superuser', ['p, c, /a, GET'], ['root'])).toEqual([])
  })

  test('finds a clause for admin, which needs none', () => {
    const files = policyFiles({
      modelText: modelText({ matcher: `${matcherWith({})} || r.sub == "admin"` }),
    })

    expect(checkPolicySet(parsePolicySet(files), files)).toMatchObject([
      { file: 'model.conf', line: 11, code: 'never-applies' },
    ])
  })
})
