import { expect, test } from 'vitest'
import { createAdmission } from '../../src/admission/verdict.ts'
import { matrix } from '../../src/answers/matrix.ts'
import type { Question } from '../../src/policy/engine/decision.ts'
import { policies, widestModel } from '../policy/policy-text.ts'

/** Every role has 50 rules; some are wide, some deny, and half of the roles inherit. */
function largePolicy() {
  const lines = []
  for (let role = 0; role < 200; role++) {
    for (let rule = 0; rule < 50; rule++) {
      const at = (role * 37 + rule * 41) % 400
      const [path, method] = operations[at % 5] ?? ['', '']
      const effect = role % 20 === 0 && rule === 7 ? 'deny' : 'allow'
      lines.push(`p, role-${role}, /api/res${at}${path}, ${method}, ${effect}`)
    }
    if (role % 20 === 0) lines.push(`p, role-${role}, /*, GET, allow`)
    if (role >= 100) lines.push(`g, role-${role}, role-${role - 100}`)
  }
  for (let at = 0; at < 400; at++) {
    for (const [path, method] of operations)
      lines.push(`p, all, /api/res${at}${path}, ${method}, allow`)
  }
  return policies({ model: widestModel, lines })
}

const operations = [
  ['', 'GET'],
  ['', 'POST'],
  ['/:id', 'GET'],
  ['/:id', 'DELETE'],
  ['/:id/lines/*', '*'],
] as const

test('a matrix of 200 roles and 2,000 operations takes a bounded number of decisions', () => {
  const { engine, ...rest } = largePolicy()
  let decisions = 0
  const decide = (question: Question) => {
    decisions++
    return engine.decide(question)
  }
  const admission = createAdmission({
    routes: [{ path: '/api', access: 'permitted' }],
    endpoints: { logout: 'gateway', profile: 'gateway', password: 'gateway', captchaAlias: false },
  })

  const found = matrix({ policies: { ...rest, engine: { ...engine, decide } }, admission })

  expect(found.roles).toHaveLength(201)
  expect(found.operations.length).toBeGreaterThanOrEqual(2000)
  expect(found.operations.every(({ isExact }) => isExact)).toBe(true)
  // 400,000 cells, and a decision takes about a microsecond.
  expect(decisions).toBeLessThan(1_500_000)
})

test('patterns with more kinds of path than can be examined are marked, and none is left out', () => {
  // Every literal may be a parameter: the kinds of path double with each segment.
  const lines = Array.from({ length: 1024 }, (_, number) => {
    const segments = Array.from({ length: 10 }, (__, at) => ((number >> at) & 1 ? ':x' : `s${at}`))
    return `p, role-${number % 9}, /${segments.join('/')}, GET, allow`
  })
  const admission = createAdmission({
    routes: undefined,
    endpoints: { logout: 'gateway', profile: 'gateway', password: 'gateway', captchaAlias: false },
  })

  const { operations: found } = matrix({
    policies: policies({ model: widestModel, lines }),
    admission,
  })

  expect(found).toHaveLength(1024 + 5)
  expect(found.filter(({ isExact }) => !isExact).length).toBeGreaterThan(500)
})
