import { describe, expect, test } from 'vitest'
import { createAdmission, evaluate } from '../../src/admission/verdict.ts'
import { can } from '../../src/answers/can.ts'
import { differencesOf } from '../../src/answers/compare.ts'
import { cellKinds, matrix } from '../../src/answers/matrix.ts'
import type { Scope } from '../../src/answers/query-scope.ts'
import { who } from '../../src/answers/who.ts'
import { casbinModels, indexedModels } from '../policy/casbin-models.ts'
import { policies } from '../policy/policy-text.ts'

const admission = createAdmission({
  routes: [{ path: '/orders', access: 'permitted', upstream: 'app' }],
  endpoints: { logout: 'gateway', profile: 'gateway', password: 'gateway', captchaAlias: false },
})

function asked(modelText: string, lines: readonly string[]): Scope {
  return { admission, policies: policies({ modelText, lines }) }
}

const cases = [
  [
    'parameters in braces',
    asked(casbinModels['parameters in braces'], [
      'p, clerk, /orders/{id}, GET',
      'p, lead, /orders/{id}, GET',
      'p, lead, /orders/{id}/lines, PUT',
    ]),
  ],
  [
    'resource groups',
    asked(casbinModels['resource groups'], [
      'p, clerk, sales, GET',
      'p, lead, sales, PUT',
      'g, lead, clerk',
      'g2, /orders/7, sales',
      'g2, /orders/8, sales',
    ]),
  ],
] as const

describe.each(cases)('under a model that Casbin evaluates, with %s', (_, question) => {
  test('who is what the gateway decides for each role', () => {
    for (const path of ['/orders/7', '/orders/8', '/orders/7/lines', '/orders']) {
      for (const method of ['GET', 'PUT']) {
        const may = ['clerk', 'lead'].filter(
          (roleKey) =>
            evaluate({ roleKey, method, path }, question.admission, question.policies).allowed,
        )

        expect(who(question, { method, path }).roles.map(({ roleKey }) => roleKey)).toEqual(may)
      }
    }
  })

  test('can, its comparison and the matrix say that they are about examples', () => {
    const answer = can(question, 'lead')
    const more = differencesOf(question, 'lead', 'clerk')
    const rows = matrix(question).operations.filter(({ access }) => access.includes('permitted'))

    expect(answer).toMatchObject({ isExact: false, unasked: 0, routes: [{ rules: { length: 2 } }] })
    expect(more).toMatchObject({ isExact: false, differences: [{ example: { method: 'PUT' } }] })
    expect(differencesOf(question, 'clerk', 'lead').differences).toEqual([])
    expect(rows.map(({ isExact }) => isExact)).toEqual([false, false])
    expect(rows.map(({ cells }) => cellKinds[cells[0] ?? 0])).toEqual(['own', 'none'])
  })
})

test('rules without an example are counted, not forgotten', () => {
  const question = asked(casbinModels['resource groups'], ['p, clerk, sales, GET'])

  expect(can(question, 'clerk')).toMatchObject({ routes: [], unasked: 1 })
  expect(matrix(question).unasked).toEqual([{ method: 'GET', path: 'sales' }])
})

test('a superuser of the model may do everything, and is listed apart', () => {
  const question = asked(indexedModels['superusers by inheritance'], [
    'p, clerk, /orders, GET',
    'g, boss, root',
  ])
  const { superusers, roles } = who(question, { method: 'PUT', path: '/orders' })

  expect(superusers).toEqual([
    { roleKey: 'boss', clause: 'g(r.sub, "root")' },
    { roleKey: 'root', clause: 'g(r.sub, "root")' },
  ])
  expect(roles).toEqual([])
  expect(can(question, 'boss').unrestricted).toEqual({ clause: 'g(r.sub, "root")' })
  expect(differencesOf(question, 'boss', 'clerk').isEverything).toBe(true)
  expect(differencesOf(question, 'boss', 'admin').isEverything).toBe(false)
  const row = matrix(question).operations.find(({ path }) => path === '/orders')
  expect(Array.from(row?.cells ?? [], (cell) => cellKinds[cell])).toEqual([
    'superuser',
    'own',
    'superuser',
  ])
})
