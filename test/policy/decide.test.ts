import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decide } from '../../src/policy/decide.ts'
import { policies, widestModel } from './policy-text.ts'

const exclusions = `
- { method: GET, path: /api/v1/user/profile, reason: the own profile }
- { method: GET, path: /api/v1/configKey/:key, reason: the front end needs it before it knows a role }
`
// The rules of security.md, 3.1, and those of 3.7.
const compiled = policies({
  exclusions,
  lines: [
    'p, editor, /api/v1/public/*, GET',
    'p, editor, /api/v1/articles/:id, GET',
    'p, editor, /api/v1/articles, POST',
    'p, editor, /api/v1/:res/profile, GET',
    'p, editor, /api/v1/file.json, GET',
    'p, editor, /api/v1/rep*, GET',
    'p, editor, /api/v1/drafts/, GET',
    'p, editor, /api/v1/drafts/:id, *',
    'p, admin, /api/v1/admin, GET',
    'p, admin , /api/v1/x, GET',
  ],
})
const ask = (roleKey: string, method: string, path: string) =>
  decide({ roleKey, method, path }, compiled)

describe('a decision about an editor', () => {
  test.each([
    ['GET', '/api/v1/public/a'],
    ['GET', '/api/v1/public/a/b/c'],
    ['GET', '/api/v1/public/'],
    ['GET', '/api/v1/articles/7'],
    ['GET', '/api/v1/articles/:id'],
    ['POST', '/api/v1/articles'],
    ['GET', '/api/v1/orders/profile'],
    ['GET', '/api/v1/file.json'],
    ['GET', '/api/v1/rep'],
    ['GET', '/api/v1/reports'],
    ['GET', '/api/v1/reports/7'],
    ['GET', '/api/v1/drafts/'],
    ['PUT', '/api/v1/drafts/7'],
    ['PROPFIND', '/api/v1/drafts/7'],
  ])('allows %s %s by a rule', (method, path) => {
    const decision = ask('editor', method, path)

    expect(decision).toMatchObject({ allowed: true, step: 'rule', revision: compiled.revision })
    expect(decision.rule?.roleKey).toBe('editor')
    expect(decision.rule?.origin.file).toBe('policy.csv')
  })

  test.each([
    ['GET', '/api/v1/public'],
    ['GET', '/api/v1/publicity'],
    ['GET', '/api/v1/articles'],
    ['GET', '/api/v1/articles/'],
    ['GET', '/api/v1/articles/7/comments'],
    ['GET', '/api/v1/articles/7/'],
    ['DELETE', '/api/v1/articles/7'],
    ['GET', '/api/v1/profile'],
    ['GET', '/API/V1/public/a'],
    ['GET', '/api/v1/drafts'],
    ['GET', '/api/v1/re'],
    ['GET', '/api/v1/sys-user'],
    ['GET', '/'],
    ['GET', ''],
    ['GET', 'api/v1/articles/7'],
    // T171: a dot is a dot.
    ['GET', '/api/v1/fileXjson'],
    ['GET', '/foo/etc'],
    // T173: no method stands for another.
    ['HEAD', '/api/v1/public/a'],
    ['get', '/api/v1/public/a'],
    ['OPTIONS', '/api/v1/public/a'],
    ['PROPFIND', '/api/v1/public/a'],
    ['QUERY', '/api/v1/public/a'],
    ['*', '/api/v1/public/a'],
    ['', '/api/v1/public/a'],
  ])('refuses %s %s, which no rule allows', (method, path) => {
    expect(ask('editor', method, path)).toEqual({
      allowed: false,
      step: 'none',
      revision: compiled.revision,
    })
  })
})

describe('the steps of a decision', () => {
  test.each(['/api/v1/sys-user', '/', '/api/v1/user/profile'])('let admin pass on %s', (path) => {
    expect(ask('admin', 'DELETE', path)).toMatchObject({ allowed: true, step: 'admin' })
  })

  test.each(['Admin', 'ADMIN', 'admin ', ' admin', 'admin\u0000', 'administrator', 'аdmin', ''])(
    'take %j for a plain role',
    (roleKey) => {
      expect(ask(roleKey, 'DELETE', '/api/v1/sys-user')).toMatchObject({ step: 'none' })
    },
  )

  test.each(['editor', 'viewer', 'nobody'])('let %s pass by an exclusion', (roleKey) => {
    const decision = ask(roleKey, 'GET', '/api/v1/user/profile')

    expect(decision).toMatchObject({ allowed: true, step: 'exclusion' })
    expect(decision.exclusion).toMatchObject({ reason: 'the own profile', origin: { line: 2 } })
  })

  test('let a parameter in an exclusion stand for one segment', () => {
    expect(ask('viewer', 'GET', '/api/v1/configKey/theme').step).toBe('exclusion')
    expect(ask('viewer', 'GET', '/api/v1/configKey/theme/x').step).toBe('none')
    expect(ask('viewer', 'GET', '/api/v1/configKey/').step).toBe('none')
  })

  test.each(['PUT', 'HEAD', 'get', '*'])(
    'apply an exclusion to its method, not to %s',
    (method) => {
      expect(ask('viewer', method, '/api/v1/user/profile')).toMatchObject({
        allowed: false,
        step: 'none',
      })
    },
  )

  test('deny everybody but admin under an empty policy', () => {
    const empty = policies({ lines: ['# postern: empty'], exclusions: '' })
    const question = { method: 'GET', path: '/api/v1/orders' }

    expect(decide({ ...question, roleKey: 'editor' }, empty)).toMatchObject({
      allowed: false,
      step: 'none',
    })
    expect(decide({ ...question, roleKey: 'admin' }, empty)).toMatchObject({
      allowed: true,
      step: 'admin',
    })
  })
})

describe('the endpoints of the specification', () => {
  const empty = policies({ lines: ['# postern: empty'], exclusions: '' })
  const endpoints = [
    ['POST', '/api/v1/login'],
    ['GET', '/api/v1/getCaptcha'],
    ['POST', '/api/v1/logout'],
    ['GET', '/api/v1/user/profile'],
  ] as const

  test.each(endpoints)('%s %s is excluded without an entry', (method, path) => {
    const decision = decide({ roleKey: 'nobody', method, path }, empty)

    expect(decision).toMatchObject({
      allowed: true,
      step: 'exclusion',
      exclusion: { origin: { file: 'built in' } },
    })
  })

  test.each(endpoints)('allow %s %s and nothing beside it', (method, path) => {
    for (const [otherMethod, otherPath] of [
      ['DELETE', path],
      [method, `${path}/`],
      [method, `${path}x`],
      [method, path.toUpperCase()],
    ] as const) {
      const question = { roleKey: 'nobody', method: otherMethod, path: otherPath }
      expect(decide(question, empty)).toMatchObject({ allowed: false, step: 'none' })
    }
  })
})

describe('a policy with inheritance and deny', () => {
  const rich = policies({
    model: widestModel,
    lines: [
      'p, viewer, /api/v1/orders/:id, GET',
      'p, editor, /api/v1/orders/*, *',
      'p, editor, /api/v1/orders/7, DELETE, deny',
      'p, staff, /api/v1/orders/secret, *, deny',
      'p, trainee, /api/v1/orders/:id, PUT, deny',
      'g, editor, viewer',
      'g, viewer, staff',
      'g, trainee, editor',
    ],
  })
  const answer = (roleKey: string, method: string, path: string) => {
    const { allowed, step, rule } = decide({ roleKey, method, path }, rich)
    return `${allowed} ${step} ${rule?.origin.line ?? '-'}`
  }

  test.each([
    ['a parent allows', 'trainee', 'GET', '/api/v1/orders/8', 'true rule 1'],
    ['the own rule allows', 'editor', 'DELETE', '/api/v1/orders/8', 'true rule 2'],
    ['the own rule denies', 'editor', 'DELETE', '/api/v1/orders/7', 'false rule 3'],
    ['a grandparent denies', 'editor', 'GET', '/api/v1/orders/secret', 'false rule 4'],
    [
      'the own rule denies what a parent allows',
      'trainee',
      'PUT',
      '/api/v1/orders/8',
      'false rule 5',
    ],
    [
      'a parent allows what nobody denies',
      'trainee',
      'PUT',
      '/api/v1/orders/8/items',
      'true rule 2',
    ],
    ['a child is no parent', 'viewer', 'PUT', '/api/v1/orders/8', 'false none -'],
    ['a role only denies', 'staff', 'GET', '/api/v1/orders/8', 'false none -'],
  ])('decides when %s', (_, roleKey, method, path, expected) => {
    expect(answer(roleKey, method, path)).toBe(expected)
  })

  test('gives nobody the bypass of admin by inheritance', () => {
    const heirs = policies({ model: widestModel, lines: ['p, a, /x, GET', 'g, a, admin'] })

    expect(decide({ roleKey: 'a', method: 'GET', path: '/y' }, heirs).allowed).toBe(false)
  })
})

describe('every decision', () => {
  test('is frozen and shared between equal questions', () => {
    for (const [roleKey, method, path] of [
      ['admin', 'GET', '/'],
      ['viewer', 'GET', '/api/v1/user/profile'],
      ['editor', 'GET', '/api/v1/public/a'],
      ['editor', 'GET', '/api/v1/sys-user'],
    ] as const) {
      expect(ask(roleKey, method, path)).toBe(ask(roleKey, method, path))
      expect(Object.isFrozen(ask(roleKey, method, path))).toBe(true)
    }
  })

  test('is made without throwing, whatever is asked', () => {
    const word = fc.string({ unit: 'binary', maxLength: 40 })
    const role = fc.oneof(word, fc.constantFrom('editor', '__proto__', 'constructor', 'toString'))
    const path = fc.oneof(
      word,
      word.map((tail) => `/api/v1/${tail}`),
    )

    fc.assert(
      fc.property(role, word, path, (roleKey, method, anyPath) => {
        expect(ask(roleKey, method, anyPath).revision).toBe(compiled.revision)
      }),
      { numRuns: 2_000 },
    )
  })
})
