import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decide } from '../../src/policy/decide.ts'
import { type CompiledPolicies, compile, compileFlat } from '../../src/policy/engine/compile.ts'
import { flattenPolicies, memoryOf } from '../../src/policy/engine/flat-policies.ts'
import { formatModel } from '../../src/policy/set/format.ts'
import { parsePolicySet } from '../../src/policy/set/policy-set.ts'
import { finish } from '../../src/policy/steps.ts'
import { casbinModels } from './casbin-models.ts'
import { policyFiles, widestModel } from './policy-text.ts'

const days = ['2026-03-01', '2026-06-01', '2026-09-01']
const moments = [Date.UTC(2026, 0), ...days.map((day) => Date.parse(day)), Date.UTC(2027, 0)]
const times = moments.flatMap((at) => [at - 1, at])

/** A line, and the day from which it is ignored. */
interface Dated {
  readonly line: string
  readonly day: string | undefined
}

const day = fc.constantFrom(undefined, undefined, ...days)
const dated = (line: fc.Arbitrary<string>): fc.Arbitrary<Dated> => fc.record({ line, day })
const withComment = ({ line, day }: Dated) =>
  day === undefined ? [line] : [`# postern: until ${day}`, line]
const isActive = (at: number) => (each: Dated) =>
  each.day === undefined || Date.parse(each.day) > at

const roles = ['a', 'b', 'c', 'd', 'e']
const paths = ['/a', '/a/:id', '/a/b', '/a/*', '/*']
const method = fc.constantFrom('GET', 'PUT', '*')
// From later to earlier ones only: no circles, but many diamonds.
const link = dated(
  fc
    .tuple(fc.nat({ max: 3 }), fc.nat({ max: 3 }))
    .map(([one, other]) => `g, ${roles[Math.max(one, other) + 1]}, ${roles[Math.min(one, other)]}`),
)
const allowing = (methods: fc.Arbitrary<string>) =>
  dated(
    fc
      .tuple(fc.constantFrom(...roles), fc.constantFrom(...paths), methods)
      .map(([role, path, text]) => `p, ${role}, ${path}, ${text}, allow`),
  )
const denying = fc
  .tuple(
    fc.constantFrom(...roles),
    fc.constantFrom('/a/b', '/a/:id'),
    fc.constantFrom('GET', 'PUT'),
  )
  .map(([role, path, text]) => ({ line: `p, ${role}, ${path}, ${text}, deny`, day: undefined }))
const exclusion = dated(
  fc
    .tuple(fc.constantFrom('/a', '/a/:id'), fc.constantFrom('one', 'two'))
    .map(([path, reason]) => `- { method: GET, path: ${path}, reason: ${reason} }`),
)

const questions = [...roles, 'root', 'nobody'].flatMap((roleKey) =>
  ['/a', '/a/7', '/a/b', '/q'].flatMap((path) =>
    ['GET', 'PUT', 'DELETE'].map((each) => ({ roleKey, method: each, path })),
  ),
)

interface Lines {
  readonly lines: readonly Dated[]
  readonly exclusions: readonly Dated[]
}

function filesOf(modelText: string, { lines, exclusions }: Lines) {
  return policyFiles({
    modelText,
    lines: lines.length === 0 ? ['# postern: empty'] : lines.flatMap(withComment),
    exclusions: exclusions.flatMap(withComment).join('\n'),
  })
}

const permanent = ({ line }: Dated): Dated => ({ line, day: undefined })

/** What a gateway decides whose policy never had the lines that have expired by this time. */
function withoutExpired(modelText: string, { lines, exclusions }: Lines, at: number) {
  const left = {
    lines: lines.filter(isActive(at)).map(permanent),
    exclusions: exclusions.filter(isActive(at)).map(permanent),
  }
  const empty = { ...left, lines: left.lines.filter(({ line }) => line.startsWith('g')) }
  const hasRules = left.lines.some(({ line }) => line.startsWith('p'))
  const files = filesOf(modelText, hasRules ? left : empty)
  const declared = hasRules ? files : files.map((file) => declare(file))
  return compile(parsePolicySet(declared))
}

const declare = (file: { readonly name: string; readonly text: string }) =>
  file.name === 'policy.csv' && !file.text.includes('empty')
    ? { ...file, text: `# postern: empty\n${file.text}` }
    : file

/** Compares decisions, not the lines they name: of two that allow, either may be named. */
function expectSame(compiled: CompiledPolicies, expected: CompiledPolicies, at: number): void {
  const shown = (policies: CompiledPolicies) =>
    questions.map((question) => {
      const { allowed, step } = decide(question, policies)
      return `${Object.values(question).join(' ')} ${allowed} ${step}`
    })
  expect({ at, decisions: shown(compiled) }).toEqual({ at, decisions: shown(expected) })
  const expired = questions.filter((question) => {
    const { rule, exclusion } = decide(question, compiled)
    return ((rule ?? exclusion)?.until ?? Number.POSITIVE_INFINITY) <= at
  })
  expect(expired).toEqual([])
}

const indexed = formatModel(widestModel)
const indexModels = [
  indexed,
  indexed.replace(/^m = (.*)$/m, 'm = $1 || g(r.sub, "b") || r.sub == "root"'),
  indexed.replace(/^m = (.*)$/m, 'm = $1 || g(r.sub, "a") || g(r.sub, "c")'),
  indexed.replace('(r.act == p.act || p.act == "*")', '(p.act == "*" || regexMatch(r.act, p.act))'),
]

describe('at any time, a policy with lines that expire', () => {
  test('decides like one without the expired lines, in the index and in flat memory', () => {
    let compared = 0
    fc.assert(
      fc.property(
        fc.constantFrom(...indexModels),
        fc.array(allowing(fc.constantFrom('GET', 'PUT', '*', '(GET)|(PUT)')), {
          minLength: 1,
          maxLength: 12,
        }),
        fc.array(denying, { maxLength: 2 }),
        fc.array(link, { maxLength: 8 }),
        fc.array(exclusion, { maxLength: 4 }),
        fc.boolean(),
        (modelText, allows, denies, links, exclusions, hasDenies) => {
          const isList = modelText.includes('regexMatch')
          const rules = isList
            ? allows
            : allows.map((each) => ({ ...each, line: each.line.replace('(GET)|(PUT)', 'GET') }))
          const lines = [...rules, ...(hasDenies ? denies : []), ...links]
          const set = parsePolicySet(filesOf(modelText, { lines, exclusions }))
          const clock = { time: 0 }
          const compiled = compile(set, () => clock.time)
          const flat = finish(flattenPolicies(set))
          if (flat === undefined) throw new Error('Casbin evaluates this model')
          const moved = structuredClone(flat, { transfer: memoryOf(flat) })
          const flatCompiled = compileFlat(moved, () => clock.time)

          // Back in time as well as forth.
          for (const at of [...times, ...times.toReversed()]) {
            clock.time = at
            const expected = withoutExpired(modelText, { lines, exclusions }, at)
            expectSame(compiled, expected, at)
            expectSame(flatCompiled, expected, at)
            compared++
          }
        },
      ),
      { numRuns: 60 },
    )
    expect(compared).toBeGreaterThan(500)
  })

  test('decides like one without the expired lines when Casbin evaluates its model', () => {
    const modelText = casbinModels['priority by order']
    fc.assert(
      fc.property(
        fc.array(fc.oneof(allowing(method), denying), { minLength: 1, maxLength: 8 }),
        fc.array(link, { maxLength: 6 }),
        fc.array(exclusion, { maxLength: 2 }),
        (rules, links, exclusions) => {
          const lines = [...rules, ...links].map(({ line, day }) => ({
            line: line.replaceAll(':id', '7').replace(', *,', ', GET,'),
            day,
          }))
          const set = parsePolicySet(filesOf(modelText, { lines, exclusions }))
          const clock = { time: 0 }
          const compiled = compile(set, () => clock.time)

          for (const at of [...times, ...times.toReversed()]) {
            clock.time = at
            expectSame(compiled, withoutExpired(modelText, { lines, exclusions }, at), at)
          }
        },
      ),
      { numRuns: 15 },
    )
  })
})
