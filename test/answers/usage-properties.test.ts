import fc from 'fast-check'
import { expect, test } from 'vitest'
import { candidateWithout } from '../../src/answers/usage/candidate.ts'
import { unusedOf } from '../../src/answers/usage/unused.ts'
import { decide } from '../../src/policy/decide.ts'
import { compile } from '../../src/policy/engine/compile.ts'
import { formatModel } from '../../src/policy/set/format.ts'
import { parsePolicySet } from '../../src/policy/set/policy-set.ts'
import { usageKey } from '../../src/policy/usage/usage-key.ts'
import { widestModel } from '../policy/policy-text.ts'

const roles = ['a', 'b', 'c', 'd'] as const
const patterns = ['/x', '/x/:id', '/x/*', '/y', '/y/:id/z', '/*']
const paths = ['/x', '/x/1', '/x/1/2', '/y', '/y/1/z', '/other']
const methods = ['GET', 'PUT', '*']

const now = Date.parse('2026-11-16T12:00:00Z')
/** Nothing, or the comment that lets the line below it expire. */
const limit = fc.constantFrom(
  '',
  '',
  '# postern: until 2027-01-01\n',
  '# postern: until 2028-01-01\n',
)
const times = [now, Date.parse('2027-06-01'), Date.parse('2028-06-01')]

const rule = fc
  .tuple(
    fc.constantFrom(...roles),
    fc.constantFrom(...patterns),
    fc.constantFrom(...methods),
    fc.constantFrom('allow', 'allow', 'allow', 'deny'),
    limit,
  )
  .map(([role, path, method, effect, until]) => {
    return `${effect === 'deny' ? '' : until}p, ${role}, ${path}, ${method}, ${effect}`
  })
/** Only upward, so that nothing inherits from itself. */
const inheritance = fc
  .tuple(fc.nat(3), fc.nat(3), limit)
  .filter(([child, parent]) => child < parent)
  .map(([child, parent, until]) => `${until}g, ${roles[child]}, ${roles[parent]}`)
const call = fc.record({
  roleKey: fc.constantFrom(...roles, 'stranger'),
  method: fc.constantFrom('GET', 'PUT'),
  path: fc.constantFrom(...paths),
})

test('what a candidate drops changes no decision about a call that was counted, now or after lines expire', () => {
  const policies = fc.record({
    rules: fc.array(rule, { minLength: 1, maxLength: 12 }),
    links: fc.array(inheritance, { maxLength: 5 }),
    calls: fc.array(call, { minLength: 1, maxLength: 12 }),
  })
  fc.assert(
    fc.property(policies, ({ rules, links, calls }) => {
      const files = [
        { name: 'model.conf', text: formatModel(widestModel) },
        { name: 'policy.csv', text: ['p, kept, /kept, GET', ...rules, ...links].join('\n') },
      ]
      const set = parsePolicySet(files)
      const before = compile(set, () => now)
      const counted = { count: 1, last: 0 }
      const kept = { roleKey: 'kept', method: 'GET', path: '/kept' }
      const decided = [...calls, kept].map((each) => decide(each, before))
      const usage = {
        decisions: new Map(decided.map((each) => [usageKey(each) ?? '', counted])),
        roles: new Map(calls.map(({ roleKey }) => [roleKey, counted])),
      }

      const unused = unusedOf(set, usage, { before: [set], now })
      const { set: left, dropped } = candidateWithout(files, set, unused, true)
      expect(dropped.rules).toBe(set.rules.length - left.rules.length)
      for (const time of times) {
        const [whole, reduced] = [compile(set, () => time), compile(left, () => time)]
        for (const each of calls.filter((_, at) => decided[at]?.allowed === true)) {
          const [was, is] = [decide(each, whole), decide(each, reduced)]
          const isSame = time !== now || usageKey(was) === usageKey(is)
          expect([each, time, is.allowed, isSame]).toEqual([each, time, was.allowed, true])
        }
      }
    }),
    { numRuns: 500 },
  )
})
