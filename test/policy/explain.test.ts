import { describe, expect, test } from 'vitest'
import { explain } from '../../src/policy/explain.ts'
import { policies, widestModel } from './policy-text.ts'

const compiled = policies({
  model: widestModel,
  lines: [
    'p, editor, /api/v1/orders/:id, GET',
    'p, editor, /api/v1/orders/:id, DELETE, deny',
    'p, viewer, /api/v1/orders/*, *',
    'p, clerk, /api/v1/orders/:id, DELETE',
    'p, clerk, /api/v1/orders, DELETE',
    'p, base, /api/v1/orders/7, PATCH',
    'g, editor, base',
  ],
})
const missesOf = (roleKey: string, method: string, path: string) =>
  explain({ roleKey, method, path }, compiled).nearMisses.map(
    ({ differs, rule }) => `${differs} ${rule.origin.line}`,
  )

describe('an explanation', () => {
  test('names rules for other methods, inherited ones too, and rules of other roles', () => {
    expect(missesOf('editor', 'PUT', '/api/v1/orders/7')).toEqual([
      'method 1',
      'role 3',
      'method 6',
    ])
  })

  test('names them for a denial by rule as well, and no rule that denies', () => {
    expect(missesOf('editor', 'DELETE', '/api/v1/orders/7')).toEqual([
      'method 1',
      'role 3',
      'role 4',
      'method 6',
    ])
  })

  test('has only rules of others for a role without rules', () => {
    expect(missesOf('nobody', 'GET', '/api/v1/orders/8')).toEqual(['role 1', 'role 3'])
  })

  test('carries the decision, and nothing more when it is yes', () => {
    const question = { roleKey: 'editor', method: 'GET', path: '/api/v1/orders/7' }

    const { decision, nearMisses } = explain(question, compiled)

    expect(decision).toMatchObject({ allowed: true, step: 'rule', revision: compiled.revision })
    expect(nearMisses).toEqual([])
  })

  test('stops at what a person can read', () => {
    const lines = Array.from({ length: 500 }, (_, at) => `p, role-${at}, /x, GET`)

    const { nearMisses } = explain({ roleKey: 'a', method: 'GET', path: '/x' }, policies({ lines }))

    expect(nearMisses).toHaveLength(20)
  })
})
