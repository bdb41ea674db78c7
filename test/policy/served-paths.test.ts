import fc from 'fast-check'
import { expect, test } from 'vitest'
import { routeLabel } from '../../src/admission/route-label.ts'
import { createRoutes } from '../../src/admission/route-table.ts'
import { createServingRoutes } from '../../src/answers/serving-routes.ts'
import { checkPolicySet } from '../../src/policy/checks/check.ts'
import { decide } from '../../src/policy/decide.ts'
import { compile } from '../../src/policy/engine/compile.ts'
import { parsePolicySet } from '../../src/policy/set/policy-set.ts'
import { policyFiles, policySet, widestModel } from './policy-text.ts'

/** No path of these is one that Postern serves itself. */
const words = ['x', 'y', 'xy', 'z']
const deepest = 5

/**
 * Every path of these words, one level deeper than any pattern and any route, and each with a last word
 * that no route has: `/z*` allows `/zq` too, which another route may serve.
 */
const paths = (() => {
  const all = ['']
  for (const path of all) {
    if (path.split('/').length <= deepest) for (const word of words) all.push(`${path}/${word}`)
  }
  return all.slice(1).flatMap((path) => [path, `${path}q`])
})()

const route = fc.record({
  path: fc
    .array(fc.constantFrom(...words), { minLength: 1, maxLength: 3 })
    .map((segments) => `/${segments.join('/')}`),
  access: fc.constantFrom('permitted' as const, 'authenticated' as const, 'public' as const),
})
const pattern = fc
  .tuple(
    fc.constantFrom(...words),
    fc.array(fc.constantFrom(...words, ':id'), { maxLength: 2 }),
    fc.constantFrom('', '/*', '*'),
  )
  .map(([first, others, tail]) => {
    const path = `/${[first, ...others].join('/')}`
    return tail === '*' && path.includes(':') ? path : path + tail
  })

test('a warning about routes says what the gateway does with every path of the rule', () => {
  const seen = { unserved: 0, open: 0, fine: 0 }

  fc.assert(
    fc.property(
      fc.uniqueArray(route, { minLength: 1, maxLength: 4, selector: ({ path }) => path }),
      fc.uniqueArray(pattern, { minLength: 1, maxLength: 4 }),
      (all, patterns) => {
        const lines = patterns.map((path) => `p, clerk, ${path}, GET`)
        const files = policyFiles({ model: widestModel, lines })
        const servingRoutes = createServingRoutes(all)
        const serving = (each: string) => servingRoutes(each).routes
        const findings = checkPolicySet(parsePolicySet(files), files, {
          routes: { all, serving, label: routeLabel },
        })
        const linesWith = (code: string) =>
          findings
            .filter((finding) => finding.code === code)
            .flatMap(({ line, related = [] }) => [line, ...related.map((each) => each.line)])
            .sort()
        const findRoute = createRoutes(all)
        const expected = { unserved: [] as number[], open: [] as number[] }

        for (const [at, line] of lines.entries()) {
          const policies = compile(policySet({ model: widestModel, lines: [line] }))
          const accesses = paths
            .filter((path) => decide({ roleKey: 'clerk', method: 'GET', path }, policies).allowed)
            .flatMap((path) => findRoute(path, 'GET')?.access ?? [])
          if (accesses.length === 0) expected.unserved.push(at + 1)
          else if (!accesses.includes('permitted')) expected.open.push(at + 1)
          else seen.fine++
        }

        seen.unserved += expected.unserved.length
        seen.open += expected.open.length
        expect(linesWith('unserved-path')).toEqual(expected.unserved)
        expect(linesWith('never-applies')).toEqual(expected.open)
      },
    ),
    { numRuns: 150 },
  )

  expect(Math.min(seen.unserved, seen.open, seen.fine)).toBeGreaterThan(20)
})
