import { describe, expect, test } from 'vitest'
import { ShadowComparison } from '../../src/gateway/shadow/shadow-comparison.ts'
import type { Identified } from '../../src/gateway/stages.ts'
import { decide } from '../../src/policy/decide.ts'
import { type CompiledPolicies, compile } from '../../src/policy/engine/compile.ts'
import { parsePolicySet } from '../../src/policy/set/policy-set.ts'
import { bounds } from '../../src/policy/shadow/evidence.ts'
import { readEvidence } from '../../src/policy/shadow/read-evidence.ts'
import { tenants } from '../policy/domain-models.ts'
import { policySet } from '../policy/policy-text.ts'
import { policyFiles } from '../support/policy-files.ts'

const policies = (...rules: readonly string[]) => compile(parsePolicySet(policyFiles(rules)))
const plain = { path: (path: string) => path, userId: (userId: string) => userId }

let requests = 0

function request(roleKey: string, method: string, path: string): Identified {
  requests++
  const received = { call: { method, path }, arrival: { notes: {} }, requestId: `q${requests}` }
  return { received, token: { caller: { roleKey, userId: '7' } } } as unknown as Identified
}

/** A comparison, and what asks the live policy and then the observer, as `authorize` does. */
function started(shadow: CompiledPolicies, showing = plain) {
  let clock = Date.parse('2026-11-16T12:00:00Z')
  const comparison = new ShadowComparison({ showing, now: () => (clock += 1000) })
  comparison.start(shadow, 1)
  function ask(live: CompiledPolicies, line: string): Identified {
    const [roleKey = '', method = '', path = ''] = line.split(' ')
    const identified = request(roleKey, method, path)
    comparison.observe(identified, decide({ roleKey, method, path }, live))
    return identified
  }
  return { comparison, ask }
}

describe('a shadow beside a live policy with a domain', () => {
  test('is asked in the domain of the request, and the example names it', () => {
    const rules = ['p, clerk, north, /orders, GET', 'p, clerk, south, /orders, GET']
    const live = compile(policySet({ modelText: tenants, lines: rules }))
    const { comparison } = started(
      compile(policySet({ modelText: tenants, lines: rules.slice(0, 1) })),
    )
    for (const domain of ['north', 'south', 'west']) {
      const { received, token } = request('clerk', 'GET', '/orders')
      const identified = { received, token: { ...token, domain } } as unknown as Identified
      comparison.observe(
        identified,
        decide({ roleKey: 'clerk', domain, method: 'GET', path: '/orders' }, live),
      )
    }

    const read = readEvidence(JSON.parse(JSON.stringify(comparison.evidence())))
    expect(read).toMatchObject({
      ...{ evaluated: 3, wouldDeny: 1, wouldAllow: 0 },
      disagreements: [
        { domain: 'south', live: { rule: { text: 'p, clerk, south, /orders, GET' } } },
      ],
    })
  })
})

describe('a shadow beside the live policy', () => {
  const live = policies('clerk, /orders, GET', 'clerk, /orders/:id, DELETE')
  const shadow = policies('clerk, /orders, GET', 'clerk, /exports, GET')

  test('counts what it would deny and allow, by role, method and rule', () => {
    const { comparison, ask } = started(shadow)

    ask(live, 'clerk GET /orders')
    ask(live, 'clerk DELETE /orders/1')
    const last = ask(live, 'clerk DELETE /orders/2')
    ask(live, 'clerk GET /exports')
    ask(live, 'admin GET /anything')

    expect(comparison.evidence()).toMatchObject({
      evaluated: 5,
      wouldDeny: 2,
      wouldAllow: 1,
      failed: 0,
      against: [live.revision],
      disagreements: [
        {
          would: 'deny',
          role: 'clerk',
          method: 'DELETE',
          count: 2,
          first: '2026-11-16T12:00:01.000Z',
          last: '2026-11-16T12:00:02.000Z',
          requestId: last.received.requestId,
          path: '/orders/2',
          userId: '7',
          live: {
            step: 'rule',
            rule: { file: 'policy.csv', line: 2, text: 'p, clerk, /orders/:id, DELETE' },
          },
          shadow: { step: 'none' },
        },
        {
          would: 'allow',
          count: 1,
          live: { step: 'none' },
          shadow: { step: 'rule', rule: { text: 'p, clerk, /exports, GET' } },
        },
      ],
    })
    expect(comparison.totals()).toEqual({ same: 2, wouldDeny: 2, wouldAllow: 1, failed: 0 })
  })

  test('leaves its decision for the decision log', () => {
    const { ask } = started(shadow)

    const { received } = ask(live, 'clerk GET /exports')

    expect(received.arrival.notes.shadow).toMatchObject({
      allowed: true,
      revision: shadow.revision,
    })
  })

  test('goes on counting against the next live revision, and names both', () => {
    const { comparison, ask } = started(shadow)
    const next = policies('clerk, /orders/:id, DELETE', 'clerk, /new, GET')

    ask(live, 'clerk DELETE /orders/1')
    ask(next, 'clerk DELETE /orders/1')

    expect(comparison.evidence()).toMatchObject({
      wouldDeny: 2,
      against: [live.revision, next.revision],
      // The same rule, on another line.
      disagreements: [{ count: 2 }],
    })
  })

  test('shows paths and user IDs as the decision log does', () => {
    const hidden = { path: () => undefined, userId: (id: string) => `hash of ${id}` }
    const { comparison, ask } = started(shadow, hidden as unknown as typeof plain)

    ask(live, 'clerk GET /exports')

    const [sample] = comparison.evidence().disagreements
    expect(sample).toMatchObject({ userId: 'hash of 7' })
    expect(sample).not.toHaveProperty('path')
  })

  test('keeps a bounded number of groups, and counts the rest', () => {
    const { comparison, ask } = started(shadow)
    const roles = Array.from({ length: 80 }, (_, at) => `role-${at}`)
    const many = policies(...roles.map((role) => `${role}, /x, GET`))

    for (const role of roles) ask(many, `${role} GET /x`)

    const evidence = comparison.evidence()
    expect(evidence.wouldDeny).toBe(80)
    expect(evidence.disagreements).toHaveLength(bounds.disagreements)
  })

  test('starts again at 0 with the next shadow, and continues with the same one', () => {
    const { comparison, ask } = started(shadow)
    ask(live, 'clerk GET /exports')

    comparison.stop()
    ask(live, 'clerk GET /exports')
    comparison.start(shadow, 1)
    const continued = comparison.counts()
    comparison.start(shadow, 2)

    expect(continued).toMatchObject({ evaluated: 1, wouldAllow: 1 })
    // What one shadow would do says nothing about the next, also if that cannot be loaded.
    expect(comparison.evidence(1)).toMatchObject({ evaluated: 0, disagreements: [] })
    expect(comparison.counts()).toMatchObject({ evaluated: 0, wouldAllow: 0 })
    expect(comparison.totals()).toMatchObject({ wouldAllow: 1 })
  })

  test('counts a request on which it fails, and throws nothing', () => {
    const failing = {
      ...shadow,
      excluded: () => {
        throw new Error('broken')
      },
    }
    const { comparison, ask } = started(failing)

    ask(live, 'clerk GET /orders')

    expect(comparison.counts()).toEqual({ evaluated: 0, wouldDeny: 0, wouldAllow: 0, failed: 1 })
  })
})

describe('stored evidence', () => {
  test('reads as it was written', () => {
    const { comparison, ask } = started(policies('clerk, /exports, GET'))
    ask(policies('clerk, /orders, GET'), 'clerk GET /exports')
    const evidence = comparison.evidence()

    expect(readEvidence(JSON.parse(JSON.stringify(evidence)))).toEqual(evidence)
  })

  const counts = { evaluated: 1, wouldDeny: 0, wouldAllow: 0, failed: 0 }

  test.each([
    ['no object', 7],
    ['null', null],
    ['a negative count', { ...counts, wouldDeny: -1, against: [], disagreements: [] }],
    ['a count that is no number', { ...counts, evaluated: '9', against: [], disagreements: [] }],
    ['no list', { ...counts, against: [], disagreements: {} }],
  ])('is refused with %s', (_, value) => {
    expect(readEvidence(value)).toBeUndefined()
  })

  test('of hostile size and form is cut to what a replica would keep', () => {
    const time = '2026-11-16T12:00:00Z'
    const good = { would: 'deny', count: 1, first: time, last: time, role: 'r'.repeat(9999) }
    const bad = [
      null,
      { ...good, first: 'never' },
      { ...good, count: 1.5 },
      { ...good, would: 'x' },
    ]
    const disagreements = [...bad, ...Array.from({ length: 500 }, () => good)]

    const read = readEvidence({ ...counts, against: Array(100).fill({}), disagreements })

    expect(read?.against).toEqual(Array(bounds.against).fill(''))
    expect(read?.disagreements).toHaveLength(bounds.disagreements - bad.length)
    expect(read?.disagreements[0]?.role).toHaveLength(bounds.name)
    expect(read?.disagreements[0]?.live).toEqual({ step: '' })
  })
})
