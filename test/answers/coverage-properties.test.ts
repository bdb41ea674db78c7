import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Access, AccessRoute } from '../../src/admission/routes.ts'
import { createAdmission, evaluate } from '../../src/admission/verdict.ts'
import { coverOperations } from '../../src/answers/coverage/coverage.ts'
import { policies as compiled, widestModel } from '../policy/policy-text.ts'

/** A policy of these lines, under a model that knows everything. */
function policiesOf(lines: readonly string[], exclusions: readonly object[] = []) {
  return compiled({
    model: widestModel,
    lines: lines.some((line) => line.startsWith('p')) ? lines : ['# postern: empty', ...lines],
    exclusions: JSON.stringify(exclusions),
  })
}

const roles = ['clerk', 'viewer', 'boss', 'admin']
/** `z` is named by no pattern; `az` and `bz` only begin like one. */
const texts = ['a', 'ab', 'b', 'az', 'bz', 'z']

const segment = fc.constantFrom('a', 'b', 'ab', ':x')
const pattern = fc.oneof(
  fc.array(segment, { minLength: 1, maxLength: 3 }).map((all) => `/${all.join('/')}`),
  fc.array(segment, { maxLength: 2 }).map((all) => `/${[...all, '*'].join('/')}`),
  fc.constantFrom('/a*', '/b/a*', '/a/b*'),
)
const method = fc.constantFrom('GET', 'PUT')
const rule = fc
  .tuple(
    fc.constantFrom('clerk', 'viewer', 'admin'),
    pattern,
    fc.oneof(method, fc.constant('*')),
    fc.constantFrom('allow', 'allow', 'allow', 'deny'),
  )
  .map((fields) => `p, ${fields.join(', ')}`)
const inheritance = fc.constantFrom('g, boss, clerk', 'g, boss, admin', 'g, viewer, clerk')
const exclusion = fc.record({
  method,
  path: fc.constantFrom('/a', '/a/:x', '/b/a', '/a/b/:x', '/ab/b'),
  reason: fc.constant('for a test'),
})
const route = fc.record({
  path: fc.constantFrom('/', '/a', '/a/b', '/b', '/b/ab'),
  access: fc.constantFrom<Access>('permitted', 'permitted', 'authenticated', 'public'),
})
const operation = fc.record({
  method,
  path: fc
    .array(fc.constantFrom('a', 'b', 'ab', '{x}'), { minLength: 1, maxLength: 3 })
    .map((all) => `/${all.join('/')}`),
  declaresSecurity: fc.boolean(),
})

const universe = texts.flatMap((one) => [
  `/${one}`,
  ...texts.flatMap((two) => [`/${one}/${two}`, ...texts.map((three) => `/${one}/${two}/${three}`)]),
])

function isOf(path: string, template: string): boolean {
  return new RegExp(`^${template.replaceAll('{x}', '[^/]+')}$`).test(path)
}

/** Templates by how soon they have a parameter: the later, the more specific. */
function rank(template: string): string {
  return template.replaceAll('{x}', '~')
}

describe('the access to the operations of a document', () => {
  test('is what the gateway does with every role on every path of them', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(operation, {
          minLength: 1,
          maxLength: 4,
          selector: ({ method: verb, path }) => `${verb} ${path}`,
        }),
        fc.array(rule, { maxLength: 6 }),
        fc.uniqueArray(inheritance, { maxLength: 1 }),
        fc.array(exclusion, { maxLength: 2 }),
        fc.option(fc.uniqueArray(route, { selector: ({ path }) => path, maxLength: 3 }), {
          nil: undefined,
        }),
        (operations, rules, inheritances, exclusions, routes) => {
          const policies = policiesOf([...rules, ...inheritances], exclusions)
          const admission = createAdmission({
            routes: routes as readonly AccessRoute[] | undefined,
            endpoints: {
              logout: 'gateway',
              profile: 'gateway',
              password: 'gateway',
              captchaAlias: false,
            },
          })
          const { operations: answers } = coverOperations(operations, { admission, policies })

          for (const { operation: each, kinds, isComplete } of answers) {
            const rivals = operations.filter((other) => other.method === each.method)
            const paths = universe.filter((path) => {
              const owners = rivals.filter((other) => isOf(path, other.path))
              const [first] = owners.map((other) => rank(other.path)).sort()
              return isOf(path, each.path) && first === rank(each.path)
            })
            const expected = paths.map((path) => {
              const ask = (roleKey: string) =>
                evaluate({ roleKey, method: each.method, path }, admission, policies)
              const admin = ask('admin')
              if (admin.refusal !== undefined) return 'refused'
              if (admin.isUnserved) return 'unserved'
              const nobody = ask('unknown')
              if (nobody.allowed) return nobody.need === 'nothing' ? 'public' : 'authenticated'
              const some = roles.some((role) => role !== 'admin' && ask(role).allowed)
              return some ? 'roles' : 'admin'
            })
            expect(isComplete).toBe(true)
            expect(new Set(kinds.map(({ access }) => access))).toEqual(new Set(expected))
            for (const { example } of kinds) expect(isOf(example, each.path)).toBe(true)
          }
        },
      ),
      { numRuns: 300 },
    )
  })

  test('finds for each rule the operations that have a path which it matches', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(operation, { minLength: 1, maxLength: 5, selector: ({ path }) => path }),
        fc.array(rule, { minLength: 1, maxLength: 5 }),
        (operations, rules) => {
          const admission = createAdmission({
            routes: undefined,
            endpoints: {
              logout: 'gateway',
              profile: 'gateway',
              password: 'gateway',
              captchaAlias: false,
            },
          })
          const policies = policiesOf(rules)
          const { unmatched } = coverOperations(operations, { admission, policies })

          const expected = rules.filter((line) => {
            const [, , path = '', verb = ''] = line.split(', ')
            const lone = policiesOf([`p, x, ${path}, ${verb}, allow`])
            return !operations.some((each) =>
              universe.some(
                (call) =>
                  isOf(call, each.path) &&
                  lone.engine.decide({ roleKey: 'x', method: each.method, path: call })?.allowed,
              ),
            )
          })
          const keys = expected.map((line) => line.split(', ').slice(2, 4).toReversed().join(' '))
          expect(new Set(unmatched.map(({ method: verb, path }) => `${verb} ${path}`))).toEqual(
            new Set(keys),
          )
        },
      ),
      { numRuns: 200 },
    )
  })
})
