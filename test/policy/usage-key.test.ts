import { describe, expect, test } from 'vitest'
import { decide } from '../../src/policy/decide.ts'
import { compile } from '../../src/policy/engine/compile.ts'
import { formatModel } from '../../src/policy/set/format.ts'
import { type PolicyFile, parsePolicySet } from '../../src/policy/set/policy-set.ts'
import { pathShape } from '../../src/policy/usage/path-shape.ts'
import { exclusionUsageKey, ruleUsageKey, usageKey } from '../../src/policy/usage/usage-key.ts'
import { shippedModel, widestModel } from './policy-text.ts'

const model = { name: 'model.conf', text: formatModel(widestModel) }

function keysOf(files: readonly PolicyFile[]) {
  const { rules, exclusions } = parsePolicySet([model, ...files])
  return [...rules.map(ruleUsageKey), ...exclusions.map(exclusionUsageKey)].toSorted()
}

const csv = (text: string, name = 'policy.csv') => ({ name, text })
const exclusions = (reason: string) => ({
  name: 'exclusions.yaml',
  text: `- method: GET\n  path: /news\n  reason: ${reason}\n`,
})

describe('the key under which a rule is counted', () => {
  test('survives reformatting, another order, another file and another reason', () => {
    const before = keysOf([
      csv('p, clerk, /orders, GET\np, clerk, /orders/:id, PUT\n'),
      exclusions('everyone reads it'),
    ])
    const after = keysOf([
      csv('# moved\n  p,clerk , "/orders/:id",PUT\n', 'b.csv'),
      csv('\n\np, clerk, /orders, GET, allow\n', 'a.csv'),
      exclusions('it is public anyway'),
    ])

    expect(after).toEqual(before)
  })

  test.each([
    'p, other, /orders, GET',
    'p, clerk, /order, GET',
    'p, clerk, /orders, PUT',
    'p, clerk, /orders, GET, deny',
  ])('differs for %s', (line) => {
    expect(keysOf([csv(line)])).not.toEqual(keysOf([csv('p, clerk, /orders, GET')]))
  })

  test.each([
    ['has no column for the effect', formatModel(shippedModel)],
    ['names a superuser', formatModel(shippedModel).replace(/^m = .*$/m, '$& || r.sub == "root"')],
  ])('survives a model that %s', (_, text) => {
    const plain = parsePolicySet([model, csv('p, clerk, /orders, GET')])
    const changed = parsePolicySet([{ name: 'model.conf', text }, csv('p, clerk, /orders, GET')])

    expect(changed.revision).not.toBe(plain.revision)
    expect(changed.rules.map(ruleUsageKey)).toEqual(plain.rules.map(ruleUsageKey))
  })

  test('is that of what decided: rule, inherited rule, exclusion, admin, or nothing', () => {
    const set = parsePolicySet([
      model,
      csv('p, clerk, /orders, GET\ng, boss, clerk\n'),
      exclusions('everyone reads it'),
    ])
    const policies = compile(set)
    const keyFor = (roleKey: string, path: string) =>
      usageKey(decide({ roleKey, method: 'GET', path }, policies))

    const [rule] = set.rules.map(ruleUsageKey)
    expect(keyFor('clerk', '/orders')).toBe(rule)
    expect(keyFor('boss', '/orders')).toBe(rule)
    expect(keyFor('clerk', '/news')).toBe(set.exclusions.map(exclusionUsageKey)[0])
    expect(keyFor('admin', '/orders')).toBe('admin')
    expect(keyFor('clerk', '/other')).toBeUndefined()
  })

  test('of a superuser is that of the clause, in every revision', () => {
    const text = formatModel(shippedModel).replace(/^m = .*$/m, '$& || r.sub == "root"')
    const keyUnder = (line: string) => {
      const policies = compile(parsePolicySet([{ name: 'model.conf', text }, csv(line)]))
      const decision = decide({ roleKey: 'root', method: 'GET', path: '/x' }, policies)
      return [decision.step, usageKey(decision)]
    }

    const [step, key] = keyUnder('p, clerk, /orders, GET')
    expect(step).toBe('superuser')
    expect(key).toMatch(/^[\w-]{22}$/)
    expect(keyUnder('p, clerk, /other, GET')).toEqual([step, key])
  })
})

describe('the shape of a refused path', () => {
  test.each([
    ['/orders/7', '/orders/:id'],
    ['/orders/7/lines/12', '/orders/:id/lines/:id'],
    ['/users/6f1c2a1e-9d7b-4f0e-8a44-1f2b3c4d5e6f', '/users/:id'],
    ['/users/ann@example.org', '/users/:id'],
    ['/users/ann%40example.org', '/users/:id'],
    ['/files/01ARZ3NDEKTSV4RRFFQ69G5FAV', '/files/:id'],
    ['/commits/9fceb02d0ae598e95dc970b74767f19372d61af8', '/commits/:id'],
    ['/api/v1/orders', '/api/v1/orders'],
    ['/api/v2/order-confirmations-of-today', '/api/v2/order-confirmations-of-today'],
    ['/', '/'],
  ])('of %s is %s', (path, shape) => {
    expect(pathShape(path)).toBe(shape)
  })

  test('is not kept for paths that no endpoint has', () => {
    expect(pathShape(`/${'a'.repeat(300)}`)).toBeUndefined()
    expect(pathShape('/a'.repeat(40))).toBeUndefined()
  })
})
