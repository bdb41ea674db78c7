import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decide } from '../../src/policy/decide.ts'
import type { AccessChange, Grant } from '../../src/policy/diff/access-change.ts'
import { diffOverTime } from '../../src/policy/diff/diff-over-time.ts'
import { compile } from '../../src/policy/engine/compile.ts'
import { formatModel } from '../../src/policy/set/format.ts'
import type { PolicySet } from '../../src/policy/set/policy-set.ts'
import { policySet, widestModel } from './policy-text.ts'

const now = Date.UTC(2026, 10, 1)
const days = ['2026-10-01', '2026-12-01', '2027-02-01', '2027-04-01']
const ends = days.map((day) => Date.parse(day)).filter((end) => end > now)
/** The last moment before and the first after each end, and one long after all of them. */
const moments = [now, ...ends.flatMap((end) => [end - 1, end]), Date.UTC(2040, 0)]

const roles = ['a', 'b', 'c', 'd']
const patterns = ['/x', '/x/:id', '/x/7', '/x/*', '/*']
const calls = [...roles, 'stranger'].flatMap((roleKey) =>
  ['GET', 'PUT', 'DELETE'].flatMap((method) =>
    ['/x', '/x/7', '/x/8', '/x/7/8', '/y'].map((path) => ({ roleKey, method, path })),
  ),
)

const day = fc.constantFrom(undefined, undefined, ...days)
const dated = (line: fc.Arbitrary<string>) =>
  fc
    .tuple(day, line)
    .map(([end, text]) => (end === undefined ? [text] : [`# postern: until ${end}`, text]))
const allow = dated(
  fc
    .tuple(
      fc.constantFrom(...roles),
      fc.constantFrom(...patterns),
      fc.constantFrom('GET', 'PUT', '*'),
    )
    .map(([role, path, method]) => `p, ${role}, ${path}, ${method}, allow`),
)
const deny = fc
  .tuple(fc.constantFrom(...roles), fc.constantFrom(...patterns), fc.constantFrom('GET', '*'))
  .map(([role, path, method]) => [`p, ${role}, ${path}, ${method}, deny`])
const link = dated(
  fc.constantFrom('g, a, b', 'g, b, c', 'g, c, d', 'g, a, c', 'g, a, d', 'g, b, d'),
)
const exclusion = dated(
  fc
    .tuple(fc.constantFrom('/x', '/x/:id'), fc.constantFrom('GET', 'PUT'))
    .map(([path, method]) => `- { method: ${method}, path: ${path}, reason: why }`),
)
const lines = fc
  .tuple(
    fc.array(allow, { maxLength: 5 }),
    fc.array(deny, { maxLength: 1 }),
    fc.array(link, { maxLength: 3 }),
  )
  .map((kinds) => kinds.flat(2))
const exclusions = fc.array(exclusion, { maxLength: 2 })

const widest = formatModel(widestModel)
const superuser = widest.replace(/^m = (.*)$/m, 'm = $1 || r.sub == "a" || g(r.sub, "d")')
const model = fc.constantFrom(widest, widest, widest, superuser)

/** Two policies that have much in common, as an edit leaves them. */
const pair = fc
  .record({
    ...{ common: lines, before: lines, after: lines, isReversed: fc.boolean() },
    ...{ list: exclusions, oldList: exclusions, newList: exclusions },
    ...{ oldModel: model, newModel: model },
  })
  .map(({ common, before, after, list, oldList, newList, oldModel, newModel, isReversed }) => {
    const of = (modelText: string, own: readonly string[], entries: readonly string[][]) => {
      // The same line has another place in the other policy.
      const all = isReversed && own === after ? [...own, ...common] : [...common, ...own]
      return policySet({
        modelText,
        lines: ['p, z, /z, GET, allow', ...all],
        exclusions: [...list, ...entries].flat().join('\n'),
      })
    }
    return { from: of(oldModel, before, oldList), to: of(newModel, after, newList) }
  })

describe('the access diff over time, asked about every role, method, path and moment', () => {
  test('hides no call that differs, and ends no change before its time', () => {
    let [differing, later] = [0, 0]
    fc.assert(
      fc.property(pair, ({ from, to }) => {
        const { changes, widened } = diffOverTime(from, to, { now })
        const isAllowed = allowedIn(from, to)
        let gains = 0
        const hidden = moments.flatMap((at) =>
          calls.flatMap((call) => {
            const [was, is] = isAllowed(call, at)
            if (was === is) return []
            differing++
            if (is) gains++
            const direction = is ? 'gain' : 'loss'
            const isShown = changes.some(
              (change) =>
                change.direction === direction && lastsAt(change, at) && names(change, call),
            )
            return isShown ? [] : [{ at: new Date(at).toISOString(), direction, ...call }]
          }),
        )
        later += changes.filter(({ startsAt }) => startsAt !== undefined).length
        expect(hidden).toEqual([])
        expect(widened).toBe(gains > 0)
      }),
      { numRuns: 1000 },
    )
    expect(differing).toBeGreaterThan(3000)
    expect(later).toBeGreaterThan(100)
  })

  test('reports nothing that does not differ at its moment', () => {
    fc.assert(
      fc.property(pair, ({ from, to }) => {
        const isAllowed = allowedIn(from, to)
        const wrong = diffOverTime(from, to, { now }).changes.flatMap((change) =>
          change.shares.flatMap((share) =>
            (share.roles.length === 0 ? ['stranger'] : share.roles).flatMap((roleKey) =>
              share.grants.filter(({ example }) => {
                if (example === undefined) return true
                const method = example.method === 'other' ? 'PROPFIND' : example.method
                const call = { roleKey, method, path: example.path }
                const [was, is] = isAllowed(call, change.startsAt ?? now)
                return was === is || is !== (change.direction === 'gain')
              }),
            ),
          ),
        )
        expect(wrong).toEqual([])
      }),
      { numRuns: 200 },
    )
  })

  test('reports a line again only for a role, rule or method that is new', () => {
    fc.assert(
      fc.property(pair, ({ from, to }) => {
        const { changes } = diffOverTime(from, to, { now })
        const repeated = changes.filter((change) => {
          const earlier = changes.filter(
            (each) =>
              each !== change &&
              (each.startsAt ?? now) < (change.startsAt ?? now) &&
              aboutOf(each) === aboutOf(change),
          )
          const known = new Set(earlier.flatMap(detailsOf))
          return earlier.length > 0 && detailsOf(change).every((detail) => known.has(detail))
        })
        expect(repeated).toEqual([])
      }),
      { numRuns: 200 },
    )
  })
})

type Call = (typeof calls)[number]

/** Whether the old and the new policy allow a call at a moment, by the engine. */
function allowedIn(from: PolicySet, to: PolicySet) {
  const clock = { time: now }
  const [old, young] = [compile(from, () => clock.time), compile(to, () => clock.time)]
  return (call: Call, at: number) => {
    clock.time = at
    return [decide(call, old).allowed, decide(call, young).allowed] as const
  }
}

function lastsAt({ startsAt = now, until = Number.POSITIVE_INFINITY }: AccessChange, at: number) {
  return startsAt <= at && at < until
}

function names({ shares }: AccessChange, { roleKey, method, path }: Call): boolean {
  return shares.some(
    (share) =>
      (share.roles.length === 0 || share.roles.includes(roleKey)) &&
      share.grants.some(
        ({ methods, path: pattern }) =>
          (methods.includes(method) || methods.includes('*')) && matches(pattern, path),
      ),
  )
}

const expressions = new Map(
  patterns.map((pattern) => [
    pattern,
    new RegExp(`^${pattern.replace(':id', '[^/]+').replace('*', '.*')}$`),
  ]),
)

function matches(pattern: string, path: string): boolean {
  const expression = expressions.get(pattern)
  if (expression === undefined) throw new Error(`unknown pattern ${pattern}`)
  return expression.test(path)
}

function aboutOf({ direction, cause, line, origin, text }: AccessChange): string {
  return JSON.stringify([direction, cause, line, origin, text])
}

/** Every role, rule and method of a change. */
function detailsOf({ shares }: AccessChange): readonly string[] {
  const every = ['GET', 'PUT', 'DELETE', 'other']
  const methodsOf = ({ methods }: Grant) => (methods.includes('*') ? every : methods)
  return shares.flatMap((share) =>
    (share.roles.length === 0 ? [''] : share.roles).flatMap((role) =>
      share.grants.flatMap((grant) =>
        methodsOf(grant).map((method) =>
          JSON.stringify([role, method, grant.path, grant.owner, grant.origin, grant.certain]),
        ),
      ),
    ),
  )
}
