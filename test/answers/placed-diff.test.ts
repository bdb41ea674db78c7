import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createRoutes } from '../../src/admission/route-table.ts'
import type { AccessRoute } from '../../src/admission/routes.ts'
import { createAdmission } from '../../src/admission/verdict.ts'
import { placeDiff } from '../../src/answers/placed-diff.ts'
import { createServingRoutes } from '../../src/answers/serving-routes.ts'
import { decide } from '../../src/policy/decide.ts'
import { diffPolicies } from '../../src/policy/diff/diff.ts'
import { policies, policySet, widestModel } from '../policy/policy-text.ts'

const endpoints = {
  logout: 'gateway',
  profile: 'gateway',
  password: 'gateway',
  captchaAlias: false,
}
const routes: readonly AccessRoute[] = [
  { path: '/orders', upstream: 'app', access: 'permitted' },
  { path: '/orders/help', upstream: 'app', access: 'public' },
  { path: '/me', upstream: 'app', access: 'authenticated' },
]

function placed(line: string, known: readonly AccessRoute[] | undefined = routes) {
  const lines = ['p, c, /old, GET']
  const diff = diffPolicies(
    policySet({ model: widestModel, lines }),
    policySet({ model: widestModel, lines: [...lines, line] }),
  )
  return placeDiff(diff, createAdmission({ routes: known, endpoints }))
}

describe('a diff with the routes of a configuration', () => {
  test.each([
    ['p, c, /orders/:id, GET', true, [], ['/orders', '/orders/help']],
    ['p, c, /orders/7, GET', true, [], ['/orders']],
    ['p, c, /orders/*, GET', true, [], ['/orders', '/orders/help']],
    ['p, c, /*, GET', true, [], ['/me', '/orders', '/orders/help']],
    ['p, c, /orders/help, GET', false, ['public'], ['/orders/help']],
    ['p, c, /orders/help/*, *', false, ['public'], ['/orders/help']],
    ['p, c, /me, PUT', false, ['authenticated'], ['/me']],
    ['p, c, /me*, PUT', false, ['authenticated', 'no-route'], ['/me']],
    ['p, c, /stock, PUT', false, ['no-route'], []],
    ['p, c, /stock/:id, PUT', false, ['no-route'], []],
    ['p, c, /orders, TRACE', false, ['refused'], ['/orders']],
    ['p, c, /orders/*, TRACE', false, ['refused'], ['/orders', '/orders/help']],
    ['p, c, /api/v1/login, PUT', false, ['refused'], []],
    ['p, c, /api/v1/refresh_token, GET', false, ['refused'], []],
    ['g, c, d', undefined, [], []],
  ])('finds every place where a call changes: %s', (line, hasEffect, withoutEffect, paths) => {
    const { changes, widenedHere } = placed(line)

    expect(
      changes.map((change) => ({
        hasEffect: change.hasEffect,
        withoutEffect: change.withoutEffect,
        routes: change.routes.map(({ path }) => path),
      })),
    ).toEqual(hasEffect === undefined ? [] : [{ hasEffect, withoutEffect, routes: paths }])
    expect(widenedHere).toBe(hasEffect === true)
  })

  test('has an effect wherever it may be, without a configuration', () => {
    const { changes, areRoutesKnown, widenedHere } = placed('p, c, /stock, PUT', [])
    const unknown = placeDiff(
      { from: 'a', to: 'b', widened: true, changes },
      createAdmission({ routes: undefined, endpoints }),
    )

    expect({ areRoutesKnown, widenedHere }).toEqual({ areRoutesKnown: true, widenedHere: false })
    expect(unknown).toMatchObject({ areRoutesKnown: false, widenedHere: true })
    expect(unknown.changes[0]).toMatchObject({ hasEffect: true, routes: [] })
  })

  // The proxy forwards by routes of its own, so the policy decides about every other path.
  test.each([
    ['p, c, /stock, PUT', true],
    ['p, c, /stock/:id, PUT', true],
    ['p, c, /me*, PUT', true],
    ['p, c, /me, PUT', false],
    ['p, c, /orders/help/*, *', false],
    ['p, c, /api/v1/login, PUT', false],
  ])('with forward-auth: %s', (line, hasEffect) => {
    const { changes, ...diff } = placed(line)

    const { widenedHere } = placeDiff(
      { ...diff, changes },
      createAdmission({ routes, endpoints, forwardAuth: true }),
    )

    expect(widenedHere).toBe(hasEffect)
  })
})

const segment = fc.constantFrom('a', 'b', 'ab', 'x')
const route = fc
  .array(segment, { maxLength: 3 })
  .map((segments): AccessRoute => ({ path: `/${segments.join('/')}`, access: 'permitted' }))
const pattern = fc
  .tuple(
    fc.array(fc.oneof(segment, fc.constant(':id')), { minLength: 1, maxLength: 3 }),
    fc.constantFrom('', '', '/', '/*', '*'),
  )
  .map(([segments, tail]) => {
    const path = `/${segments.join('/')}`
    return tail === '*' && path.includes(':') ? path : path + tail
  })
const path = fc
  .tuple(
    fc.array(fc.constantFrom('a', 'b', 'ab', 'x', 'abc', 'new'), { minLength: 1, maxLength: 5 }),
    fc.constantFrom('', '', '/'),
  )
  .map(([segments, tail]) => `/${segments.join('/')}${tail}`)

test('the routes of a pattern are those that serve one of its paths', () => {
  let [served, unserved] = [0, 0]

  fc.assert(
    fc.property(
      fc.uniqueArray(route, { maxLength: 5, selector: (each) => each.path }),
      pattern,
      fc.array(path, { minLength: 100, maxLength: 100 }),
      (known, each, paths) => {
        const findRoute = createRoutes(known)
        const found = createServingRoutes(known)(each)
        const matched = policies({ lines: [`p, r, ${each}, GET`] })
        for (const asked of paths) {
          if (!decide({ roleKey: 'r', method: 'GET', path: asked }, matched).allowed) continue
          const serving = findRoute(asked, 'GET')
          if (serving === undefined) unserved++
          else served++
          if (serving === undefined) expect({ asked, ...found }).toMatchObject({ isUnserved: true })
          else expect(found.routes).toContain(serving)
        }
      },
    ),
    { numRuns: 500 },
  )

  expect(Math.min(served, unserved)).toBeGreaterThan(100)
})
