import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { AccessRoute } from '../../src/admission/routes.ts'
import { evaluate } from '../../src/admission/verdict.ts'
import { can } from '../../src/answers/can.ts'
import { differencesOf } from '../../src/answers/compare.ts'
import { inDomain } from '../../src/answers/in-domain.ts'
import { cellKinds, matrix } from '../../src/answers/matrix.ts'
import { rolesIn, type Scope } from '../../src/answers/query-scope.ts'
import { simulate } from '../../src/answers/simulate.ts'
import { who } from '../../src/answers/who.ts'
import { compile } from '../../src/policy/engine/compile.ts'
import type { Rule } from '../../src/policy/rule/rule.ts'
import { matches, methodsOf, paths, randomScope } from './random-scopes.ts'

interface Call {
  readonly method: string
  readonly path: string
}

function isAllowed({ admission, policies }: Scope, roleKey: string, call: Call): boolean {
  return evaluate({ ...call, roleKey }, admission, policies).allowed
}

/** The calls of an operation that the gateway serves to someone. */
function callsOf({ admission, policies }: Scope, { method, path: pattern }: Call): readonly Call[] {
  return paths
    .filter((path) => matches(pattern, path))
    .flatMap((path) => methodsOf(method).map((each) => ({ method: each, path })))
    .filter((call) => {
      const { allowed, isUnserved } = evaluate({ ...call, roleKey: 'admin' }, admission, policies)
      return allowed && !isUnserved
    })
}

describe('for random policies and configurations', () => {
  test('who names exactly the roles that the gateway lets make the call', () => {
    const call = fc.record({
      method: fc.constantFrom('GET', 'PUT', 'POST', 'TRACE', 'NOPE', 'PROPFIND'),
      path: fc.oneof(fc.constantFrom(...paths), fc.constantFrom('/a//b', '/a/../b', '/a%2Fb')),
    })

    fc.assert(
      fc.property(randomScope, call, (asked, question) => {
        const answer = who(asked, question)
        const all = rolesIn(asked.policies.set)
        const found = [...answer.roles, ...answer.superusers].map(({ roleKey }) => roleKey).sort()
        const named = answer.kind === 'open' ? all : found

        expect(named).toEqual(all.filter((roleKey) => isAllowed(asked, roleKey, question)))
        expect(answer.isAdminAllowed).toBe(isAllowed(asked, 'admin', question))
        for (const { roleKey } of answer.deniedRoles) {
          expect(isAllowed(asked, roleKey, question)).toBe(false)
        }
      }),
      { numRuns: 500 },
    )
  })

  test('each cell of the matrix is what the gateway does with every path of the operation', () => {
    let [whole, partly, none] = [0, 0, 0]

    fc.assert(
      fc.property(randomScope, (asked) => {
        const { roles, operations, unserved } = matrix(asked)
        for (const operation of operations) {
          const calls = callsOf(asked, operation)
          expect(operation.isExact).toBe(true)
          for (const [at, roleKey] of roles.entries()) {
            const kind = cellKinds[operation.cells[at] ?? 0] ?? ''
            const allowed = calls.filter((call) => isAllowed(asked, roleKey, call)).length
            const about = `${roleKey} ${operation.method} ${operation.path}: ${kind}, ${allowed}/${calls.length}`
            if (/^part-/.test(kind)) {
              partly++
              expect(allowed > 0 && allowed < calls.length, about).toBe(true)
            } else if (kind === 'none' || kind === 'denied') {
              none++
              expect(allowed, about).toBe(0)
            } else {
              whole++
              expect(allowed, about).toBe(calls.length)
            }
          }
        }
        for (const operation of unserved) expect(callsOf(asked, operation)).toEqual([])
      }),
      { numRuns: 25 },
    )

    expect(Math.min(whole, partly, none)).toBeGreaterThan(5)
  })

  test('can lists under a route exactly the rules that allow something there', () => {
    fc.assert(
      fc.property(randomScope, (asked) => {
        const { admission, policies } = asked
        for (const roleKey of rolesIn(policies.set)) {
          const answer = can(asked, roleKey)
          if (answer.unrestricted !== undefined) continue
          const listed = new Map<AccessRoute | undefined, Set<Rule>>()
          for (const { route, rules } of answer.routes) {
            const active = rules.filter(({ effect }) => effect === 'allows' || effect === 'partly')
            listed.set(route, new Set(active.map(({ rule }) => rule)))
          }
          for (const rule of policies.set.rules) {
            if (rule.effect === 'deny' || ![roleKey, ...answer.inherits].includes(rule.roleKey))
              continue
            for (const call of callsOf(asked, rule)) {
              const verdict = evaluate({ ...call, roleKey }, admission, policies)
              if (!verdict.allowed || verdict.step !== 'rule' || verdict.need !== 'permission')
                continue
              const about = `${roleKey} ${call.method} ${call.path}`
              expect(listed.get(verdict.route)?.has(rule), about).toBe(true)
            }
          }
          for (const { rules } of answer.routes) {
            for (const { effect, example } of rules) {
              if (example === undefined) continue
              const isGranted = effect === 'allows' || effect === 'partly'
              expect(isAllowed(asked, roleKey, example)).toBe(isGranted)
            }
          }
        }
      }),
      { numRuns: 25 },
    )
  })

  test('a comparison finds a difference exactly when one role may do more', () => {
    fc.assert(
      fc.property(randomScope, (asked) => {
        const roles = rolesIn(asked.policies.set)
        const all = asked.policies.set.rules.flatMap((rule) => callsOf(asked, rule))
        for (const one of roles) {
          for (const other of roles) {
            const { differences, isEverything } = differencesOf(asked, one, other)
            if (isEverything) continue
            const served = differences.filter(({ isUnserved }) => !isUnserved)
            const isMore = (call: Call) =>
              isAllowed(asked, one, call) && !isAllowed(asked, other, call)
            for (const { example } of differences) expect(isMore(example)).toBe(true)
            const missing = all.filter(
              (call) =>
                isMore(call) &&
                !served.some(
                  ({ rule }) =>
                    methodsOf(rule.method).includes(call.method) && matches(rule.path, call.path),
                ),
            )
            expect(missing).toEqual([])
          }
        }
      }),
      { numRuns: 25 },
    )
  })

  test('a simulation finds exactly what an account with the other roles may do more and less', () => {
    let [gained, lost] = [0, 0]
    const roles = fc.constantFrom('clerk', 'viewer', 'lead', 'nobody')

    fc.assert(
      fc.property(randomScope, roles, roles, fc.boolean(), (asked, from, added, isInstead) => {
        const { whole, domain, admission } = asked
        const to = isInstead ? [added] : [...new Set([from, added])]
        const { gains, losses } = simulate(asked, { set: whole, at: Date.now(), domain, from, to })
        // The account gets a role of its own, as an administrator would write it.
        const origin = { file: 'policy.csv', line: 99 }
        const links = to.map((parentKey) => {
          return { roleKey: 'own', parentKey, origin, ...(domain && { domain }) }
        })
        const inheritances = [...whole.inheritances, ...links]
        const compiled = compile({ ...whole, inheritances })
        const policies = domain === undefined ? compiled : inDomain(compiled, domain)
        const after = { admission, policies }
        const all = asked.policies.set.rules.flatMap((rule) => callsOf(asked, rule))
        const [may, would] = [
          (call: Call) => isAllowed(asked, from, call),
          (call: Call) => isAllowed(after, to.length > 1 ? 'own' : added, call),
        ]
        for (const [found, one, other] of [
          [gains, would, may],
          [losses, may, would],
        ] as const) {
          const isTrue = (call: Call) => one(call) && !other(call)
          const truth = all.filter(isTrue)
          if (found.isEverything) continue
          for (const { example } of found.differences) expect(isTrue(example)).toBe(true)
          const isListed = (call: Call) =>
            found.differences.some(({ rule }) => {
              return methodsOf(rule.method).includes(call.method) && matches(rule.path, call.path)
            })
          expect(truth.filter((call) => !isListed(call))).toEqual([])
          if (found === gains) gained += truth.length
          else lost += truth.length
        }
      }),
      { numRuns: 200 },
    )

    expect(Math.min(gained, lost)).toBeGreaterThan(100)
  })
})
