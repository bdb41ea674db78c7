import { METHODS as NODE_METHODS } from 'node:http'
import { describe, expect, test } from 'vitest'
import { Fault } from '../../src/kernel/errors.ts'
import { decide, type Question } from '../../src/policy/decide.ts'
import { compile, engineFor } from '../../src/policy/engine/compile.ts'
import { explain } from '../../src/policy/explain.ts'
import { METHODS } from '../../src/policy/rule/rule.ts'
import { parsePolicySet } from '../../src/policy/set/policy-set.ts'
import { byPriority, casbinModels, denyOverrides, matcherWith, modelText } from './casbin-models.ts'
import { formatPolicyFiles } from './format-policy.ts'
import { policies, policySet, shippedModel } from './policy-text.ts'

type Model = keyof typeof casbinModels

const linesOf: Readonly<Record<Model, readonly string[]>> = {
  superuser: ['p, editor, /orders/:id, GET'],
  'methods by regular expression': ['p, editor, /orders/*, (GET)|(POST)', 'p, bot, /x, .*'],
  'parameters in braces': ['p, editor, /orders/{id}/items/{item}, GET'],
  'resource groups': [
    'p, staff, sales, GET',
    'g, editor, staff',
    'g2, /orders, sales',
    'g2, /invoices, sales',
  ],
  domains: [
    'p, lead, north, /north/*, GET',
    'p, lead, south, /south/*, GET',
    'g, editor, lead, north',
  ],
  'explicit priority': [
    'p, 10, editor, /orders/:id, GET, allow',
    'p, 9, editor, /orders/7, GET, deny',
    'p, 2, editor, /orders/8, GET',
  ],
  'priority by order': [
    'p, editor, /orders/7, GET, allow',
    'p, staff, /orders/*, GET, deny',
    'p, editor, /orders/*, GET, allow',
    'g, editor, staff',
  ],
  'roles by prefix and a denying negation': [
    'p, team-*, /orders/:id, *',
    'p, *, /public/*, GET',
    'p, team-b*, /orders/:id, DELETE, deny',
  ],
}
const answer = (model: Model, roleKey: string, method: string, path: string) => {
  const compiled = policies({ modelText: casbinModels[model], lines: linesOf[model] })
  const { allowed, step, rule } = decide({ roleKey, method, path }, compiled)
  return `${allowed} ${step} ${rule?.origin.line ?? '-'}`
}

describe('a model outside the index grammar', () => {
  test.each<[Model, string, string, string, string]>([
    ['superuser', 'editor', 'GET', '/orders/7', 'true rule 1'],
    ['superuser', 'root', 'DELETE', '/anything', 'true rule 1'],
    ['superuser', 'root', 'DELETE', '/secret', 'false none -'],
    ['superuser', 'editor', 'PUT', '/orders/7', 'false none -'],
    ['methods by regular expression', 'editor', 'POST', '/orders/7', 'true rule 1'],
    ['methods by regular expression', 'editor', 'PUT', '/orders/7', 'false none -'],
    ['methods by regular expression', 'bot', 'DELETE', '/x', 'true rule 2'],
    ['parameters in braces', 'editor', 'GET', '/orders/7/items/8', 'true rule 1'],
    ['parameters in braces', 'editor', 'GET', '/orders/7/items/8/9', 'false none -'],
    ['resource groups', 'editor', 'GET', '/invoices', 'true rule 1'],
    ['resource groups', 'staff', 'GET', '/orders', 'true rule 1'],
    ['resource groups', 'editor', 'GET', '/customers', 'false none -'],
    ['domains', 'editor', 'GET', '/north/7', 'true rule 1'],
    ['domains', 'editor', 'GET', '/south/7', 'false none -'],
    ['explicit priority', 'editor', 'GET', '/orders/1', 'true rule 1'],
    ['explicit priority', 'editor', 'GET', '/orders/7', 'false rule 2'],
    ['explicit priority', 'editor', 'GET', '/orders/8', 'true rule 3'],
    ['priority by order', 'editor', 'GET', '/orders/7', 'true rule 1'],
    ['priority by order', 'editor', 'GET', '/orders/8', 'false rule 2'],
    ['roles by prefix and a denying negation', 'team-a', 'PUT', '/orders/7', 'true rule 1'],
    ['roles by prefix and a denying negation', 'team-b2', 'DELETE', '/orders/7', 'false rule 3'],
    ['roles by prefix and a denying negation', 'guest', 'GET', '/public/a/b', 'true rule 2'],
    ['roles by prefix and a denying negation', 'guest', 'GET', '/orders/7', 'false none -'],
  ])('with %s answers %s %s %s by the rule that decides', (model, role, method, path, expected) => {
    expect(answer(model, role, method, path)).toBe(expected)
  })

  test.each(Object.keys(casbinModels) as Model[])(
    'with %s is answered by casbin, and says why',
    (model) => {
      const compiled = policies({ modelText: casbinModels[model], lines: linesOf[model] })

      expect(compiled.engine.name).toBe('casbin')
      expect(engineFor(compiled.set.model)).toEqual({
        name: 'casbin',
        reason: expect.stringContaining('outside the index grammar'),
      })
      expect(compiled.engine.reason).toBe(engineFor(compiled.set.model).reason)
    },
  )

  test.each(Object.keys(casbinModels) as Model[])(
    'with %s is written and read back the same',
    (model) => {
      const set = policySet({ modelText: casbinModels[model], lines: linesOf[model] })

      const again = parsePolicySet(formatPolicyFiles(set))

      expect(again.revision).toBe(set.revision)
      expect(again.model.casbin).toEqual(set.model.casbin)
      expect(again.rules.map(({ fields }) => fields)).toEqual(set.rules.map(({ fields }) => fields))
    },
  )

  test('gives its rules role, path and method where the columns are named for them', () => {
    const [rule] = policySet({ modelText: casbinModels.domains, lines: linesOf.domains }).rules

    expect(rule).toMatchObject({
      roleKey: 'lead',
      path: '/north/*',
      method: 'GET',
      effect: 'allow',
      fields: ['lead', 'north', '/north/*', 'GET'],
    })
  })

  test('leaves admin and the exclusions in front', () => {
    const exclusions = '- { method: GET, path: /me, reason: own }'
    const compiled = policies({
      modelText: casbinModels.superuser,
      lines: linesOf.superuser,
      exclusions,
    })

    expect(decide({ roleKey: 'admin', method: 'PUT', path: '/x' }, compiled).step).toBe('admin')
    expect(decide({ roleKey: 'nobody', method: 'GET', path: '/me' }, compiled).step).toBe(
      'exclusion',
    )
  })

  test('explains a refusal without near misses', () => {
    const compiled = policies({ modelText: casbinModels.superuser, lines: linesOf.superuser })

    expect(explain({ roleKey: 'editor', method: 'PUT', path: '/orders/7' }, compiled)).toEqual({
      decision: compiled.none,
      nearMisses: [],
    })
  })
})

describe('a model of the index grammar', () => {
  test('is answered by the index, and says why', () => {
    const { engine, set } = policies({})

    expect(engine.name).toBe('index')
    expect(engineFor(set.model)).toEqual({ name: 'index', reason: engine.reason })
    expect(engineFor(shippedModel).name).toBe('index')
  })
})

describe('what casbin would get wrong', () => {
  // Casbin evaluates the matcher once with empty columns when there are no rules.
  test('is not asked without rules: a negation would allow everything', () => {
    const compiled = policies({
      modelText: modelText({
        matcher: matcherWith({
          role: 'r.sub != p.sub',
          path: 'r.obj != p.obj',
          method: 'r.act != p.act',
        }),
      }),
      lines: ['# postern: empty'],
    })

    expect(compiled.engine.name).toBe('casbin')
    expect(decide({ roleKey: 'editor', method: 'GET', path: '/x' }, compiled)).toMatchObject({
      allowed: false,
      step: 'none',
    })
  })

  // security.md T179, and T109: casbin's == takes ["editor"] for "editor".
  test.each([
    ['role', { roleKey: ['editor'], method: 'GET', path: '/orders/7' }],
    ['path', { roleKey: 'editor', method: 'GET', path: ['/orders/7'] }],
    ['method', { roleKey: 'editor', method: ['GET'], path: '/orders/7' }],
  ])('is a fault for that request, never a pass, when the %s is no text', (_, question) => {
    const compiled = policies({ modelText: casbinModels.superuser, lines: linesOf.superuser })
    const ask = () => decide(question as unknown as Question, compiled)

    expect(ask).toThrow(Fault)
    expect(ask).toThrow(expect.objectContaining({ part: 'policies' }))
    expect(decide({ roleKey: 'editor', method: 'GET', path: '/orders/7' }, compiled).allowed).toBe(
      true,
    )
  })

  test('is a fault of the index as well', () => {
    const ask = () =>
      decide({ roleKey: 'editor', method: 'GET', path: 7 } as unknown as Question, policies({}))

    expect(ask).toThrow(expect.objectContaining({ part: 'policies' }))
  })

  // Its own g() tries every way up: 10 to the tenth.
  test('does not take for ever over ten generations of ten parents each', () => {
    const generations = Array.from({ length: 10 }, (_, level) =>
      Array.from({ length: 10 }, (_, child) =>
        Array.from({ length: 10 }, (_, parent) => `g, r${level}-${child}, r${level + 1}-${parent}`),
      ),
    ).flat(2)
    const compiled = policies({
      modelText: casbinModels['resource groups'],
      lines: [
        'p, r10-3, sales, GET',
        'p, nobody, sales, GET',
        'g2, /orders, sales',
        ...generations,
      ],
    })

    expect(decide({ roleKey: 'r0-0', method: 'GET', path: '/orders' }, compiled).allowed).toBe(true)
    expect(decide({ roleKey: 'r0-0', method: 'PUT', path: '/orders' }, compiled).allowed).toBe(
      false,
    )
  })

  // regexMatch() is not anchored, so "PATCH" would allow PROPPATCH: refused at load unless anchored.
  test('has no other method than PROPPATCH that contains one which a rule can name', () => {
    const containing = NODE_METHODS.filter((method) =>
      METHODS.some((named) => method !== named && method.includes(named)),
    )

    expect(containing).toEqual(['PROPPATCH'])
  })
})

describe('the revision of a policy by priority', () => {
  const lines = ['p, editor, /a, GET, allow', 'p, editor, /b, GET, deny']
  const columns = 'sub, obj, act, eft'
  const matcher = matcherWith({ path: 'keyMatch(r.obj, p.obj)' })
  const revision = (effect: string, given: readonly string[]) =>
    compile(policySet({ modelText: modelText({ columns, effect, matcher }), lines: given }))
      .revision

  test('depends on the order of the lines, which decides', () => {
    expect(revision(byPriority, lines.toReversed())).not.toBe(revision(byPriority, lines))
    expect(revision(byPriority, [...lines, ...lines])).toBe(revision(byPriority, lines))
  })

  test('does not when one deny outweighs every allow', () => {
    expect(revision(denyOverrides, lines.toReversed())).toBe(revision(denyOverrides, lines))
  })
})
