import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { AccessChange } from '../../src/policy/diff/access-change.ts'
import { diffPolicies } from '../../src/policy/diff/diff.ts'
import { findGain } from '../../src/policy/diff/gain.ts'
import { createGrants, methodBits, methodNames, treeOf } from '../../src/policy/review/grants.ts'
import { shapeOf } from '../../src/policy/review/pattern-tree.ts'
import type { Rule } from '../../src/policy/rule/rule.ts'
import type { PolicySet } from '../../src/policy/set/policy-set.ts'
import { ruleKey } from '../../src/policy/set/revision.ts'
import { expand } from './expand-diff.ts'
import { policySet, widestModel } from './policy-text.ts'

function changes(before: readonly string[], after: readonly string[], exclusions = '') {
  return diffPolicies(
    policySet({ model: widestModel, lines: before }),
    policySet({ model: widestModel, lines: after, exclusions }),
  ).changes
}

function inWords({ direction, severity, cause, line, roleKey, parentKey, shares }: AccessChange) {
  const each = shares.map(({ roles, grants }) => {
    const granted = grants.map(({ methods, path }) => `${methods.join('|')} ${path}`)
    return `${roles.join(' ')}: ${granted.join(', ')}`
  })
  const named = [roleKey, parentKey].filter((key) => key !== undefined).join(' > ')
  return `${direction} ${severity}, ${cause} ${line}, ${named}; ${each.join('; ')}`
}

describe('a folded diff', () => {
  test('has one change for a rule, with every role that inherits it', () => {
    const lines = ['p, base, /x, GET', 'g, a, base', 'g, b, a', 'g, c, base']

    const found = changes(lines, [...lines, 'p, base, /y, PUT'])

    expect(found.map(inWords)).toEqual(['gain changing, allow added, base; a b base c: PUT /y'])
  })

  test('leaves out roles that had it, and names those that gain another part', () => {
    const lines = ['p, base, /x, GET', 'g, a, base', 'g, b, base', 'g, c, base']
    const own = ['p, a, /y, *', 'p, b, /y, GET']

    const found = changes([...lines, ...own], [...lines, ...own, 'p, base, /y, *'])

    expect(found.map(inWords)).toEqual([
      'gain wide, allow added, base; base c: * /y; b: HEAD|POST|PUT|PATCH|DELETE|OPTIONS|CONNECT|TRACE|other /y',
    ])
  })

  test('shows an example of its own for a role that had the usual one', () => {
    const lines = ['p, base, /z, GET', 'g, a, base', 'p, a, /y/x, GET']

    const found = changes(lines, [...lines, 'p, base, /y/:id, GET'])

    expect(found[0]?.shares).toMatchObject([
      { roles: ['base'], grants: [{ example: { path: '/y/x' } }] },
      { roles: ['a'], grants: [{ example: { path: '/y/7' } }] },
    ])
  })

  test('has one change for a new parent, with its rules and those above it', () => {
    const lines = [
      ...['p, boss, /b, PUT', 'p, lead, /l, GET', 'p, lead, /l, PUT', 'g, lead, boss'],
      ...['p, clerk, /c, GET', 'g, temp, clerk'],
    ]

    const there = changes(lines, [...lines, 'g, clerk, lead'])
    const back = changes([...lines, 'g, clerk, lead'], lines)

    const rules = 'clerk > lead; clerk temp: GET /l, PUT /l, PUT /b'
    expect(there.map(inWords)).toEqual([`gain changing, inheritance added, ${rules}`])
    expect(back.map(inWords)).toEqual([`loss loss, inheritance removed, ${rules}`])
  })

  test('names the line that leads to new parents, not one between roles that were parents already', () => {
    const lines = ['p, top, /t, GET', 'p, x, /x, GET', 'g, r, y', 'g, y, x', 'p, r, /r, GET']

    const found = changes(lines, [...lines, 'g, r, x', 'g, x, top'])

    expect(found.map(inWords)).toEqual(['gain reading, inheritance added, x > top; r x y: GET /t'])
  })

  test('names a deny rule that was removed or added, and a parent with denies', () => {
    const lines = ['p, c, /o/*, GET', 'g, d, c', 'p, strict, /o/9, GET, deny']

    expect(changes([...lines, 'p, c, /o/7, GET, deny'], lines).map(inWords)).toEqual([
      'gain reading, deny removed, c; c d: GET /o/7',
    ])
    expect(changes(lines, [...lines, 'p, c, /o/7, GET, deny']).map(inWords)).toEqual([
      'loss loss, deny added, c; c d: GET /o/7',
    ])
    expect(changes([...lines, 'g, d, strict'], lines).map(inWords)).toEqual([
      'gain reading, inheritance removed, d > strict; d: GET /o/9',
    ])
  })

  test('sorts by severity', () => {
    const before = ['p, a, /gone, GET']
    const after = ['p, b, /r, GET', 'p, b, /w, PUT', 'p, c, /*, GET', 'p, d, /any, *']

    const found = changes(before, after, '- { method: GET, path: /open, reason: why }')

    expect(found.map(({ severity, shares }) => [severity, shares[0]?.grants[0]?.path])).toEqual([
      ['unchecked', '/open'],
      ['wide', '/*'],
      ['wide', '/any'],
      ['changing', '/w'],
      ['reading', '/r'],
      ['loss', '/gone'],
    ])
  })

  test('says nothing about a rule in another file, or split into two that say the same', () => {
    expect(changes(['p, c, /o, *', 'g, d, c'], ['g, d, c', 'p, c, /o, *'])).toEqual([])
    expect(
      changes(
        ['p, c, /o/:id, GET', 'p, c, /o/*, PUT'],
        ['p, c, /o/:key, GET', 'p, c, /o/, PUT', 'p, c, /o/:id, PUT', 'p, c, /o/:id/*, PUT'],
      ),
    ).toEqual([])
  })
})

const segment = fc.constantFrom('a', 'b', 'ab', 'abc', 'x', ':id')
const pattern = fc
  .tuple(
    fc.array(segment, { minLength: 1, maxLength: 3 }),
    fc.constantFrom('', '', '', '/', '/*', '*'),
  )
  .map(([segments, tail]) => {
    const path = `/${segments.join('/')}`
    return tail === '*' && path.includes(':') ? path : path + tail
  })
const names = ['a', 'b', 'c', 'd', 'e', 'f', 'admin']
const ruleLine = fc
  .tuple(
    fc.constantFrom(...names),
    pattern,
    fc.constantFrom('GET', 'PUT', '*'),
    fc.constantFrom('allow', 'allow', 'deny'),
  )
  .map((fields) => `p, ${fields.join(', ')}`)
/** Never circular: only from an earlier name to a later one. */
const heirLine = fc
  .tuple(fc.nat({ max: names.length - 2 }), fc.nat({ max: names.length - 2 }))
  .map(([one, other]) => `g, ${names[Math.min(one, other)]}, ${names[Math.max(one, other) + 1]}`)
const lines = fc
  .tuple(fc.array(ruleLine, { minLength: 1, maxLength: 8 }), fc.array(heirLine, { maxLength: 5 }))
  .map((both) => both.flat())

describe('whatever two policies say, a folded diff', () => {
  test('expands to what each role gains by each rule', () => {
    let [shared, unlike, inherited] = [0, 0, 0]

    fc.assert(
      fc.property(lines, lines, lines, (common, before, after) => {
        const from = policySet({ model: widestModel, lines: [...common, ...before] })
        // With other line numbers: a deny rule that becomes an allow rule is two changes, not one twice.
        const blank = Array<string>(50).fill('')
        const to = policySet({ model: widestModel, lines: [...blank, ...common, ...after] })
        const diff = diffPolicies(from, to)
        const found = expand(diff).gains.map(({ roleKey = '', methods, path, origin }) => {
          return `${roleKey} ${methods.join('|')} ${path} ${origin.line}`
        })
        const expected = gainsOneByOne(from, to)

        expect(found.filter((each) => !expected.has(each))).toEqual([])
        expect(new Set(found).size).toBe(found.length)
        const kept = new Set(found)
        const contained = [...expected].filter(
          ([text, gain]) => !kept.has(text) && !isContained(gain, expected, kept),
        )
        expect(contained).toEqual([])

        for (const { shares, cause } of diff.changes) {
          if ((shares[0]?.roles.length ?? 0) > 1) shared++
          if (shares.length > 1) unlike++
          if (cause === 'inheritance') inherited++
        }
      }),
      { numRuns: 1000 },
    )

    expect(Math.min(shared, unlike, inherited)).toBeGreaterThan(20)
  })
})

interface OneGain {
  readonly roleKey: string
  readonly methods: number
  readonly path: string
}

/** Every role with every rule that may be the reason, each evaluated on its own with whole trees. */
function gainsOneByOne(from: PolicySet, to: PolicySet): ReadonlyMap<string, OneGain> {
  const [old, young] = [createGrants(from), createGrants(to)]
  const gains = new Map<string, OneGain>()
  for (const roleKey of young.roles) {
    if (roleKey === 'admin') continue
    const before = old.lineage(roleKey).flatMap(old.rulesOf)
    const after = young.lineage(roleKey).flatMap(young.rulesOf)
    const sides = { from: [treeOf(before), old.excluded], to: [treeOf(after)] }
    const reasons = [
      ...without(after, before).filter(({ effect }) => effect === 'allow'),
      ...without(before, after).filter(({ effect }) => effect === 'deny'),
    ]
    for (const { path, method, origin } of reasons) {
      const budget = { steps: 1e9 }
      const gain = findGain(shapeOf(path), methodBits(method), { ...sides, budget })
      if (gain === undefined) continue
      const text = `${roleKey} ${methodNames(gain.methods).join('|')} ${path} ${origin.line}`
      gains.set(text, { roleKey, methods: gain.methods, path })
    }
  }
  return gains
}

function without(rules: readonly Rule[], others: readonly Rule[]): readonly Rule[] {
  const known = new Set(others.map(ruleKey))
  return rules.filter((rule) => !known.has(ruleKey(rule)))
}

/** Whether a wider gain of the same role is in the diff. */
function isContained(
  { roleKey, methods, path }: OneGain,
  all: ReadonlyMap<string, OneGain>,
  kept: ReadonlySet<string>,
): boolean {
  return [...all].some(([text, other]) => {
    if (!kept.has(text) || other.roleKey !== roleKey) return false
    const wide = { from: [treeOf([asRule(other.path)])], to: [treeOf([asRule(path)])] }
    const outside = findGain(shapeOf(path), methodBits('GET'), { ...wide, budget: { steps: 1e6 } })
    return (methods & ~other.methods) === 0 && outside === undefined
  })
}

function asRule(path: string): Rule {
  const origin = { file: '', line: 0 }
  return { roleKey: '', path, method: 'GET', effect: 'allow', origin }
}
