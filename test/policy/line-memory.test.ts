import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Invalid } from '../../src/errors.ts'
import { preparePolicies } from '../../src/policy/engine/prepare.ts'
import { finish } from '../../src/policy/rule/steps.ts'
import { createLineMemory } from '../../src/policy/set/line-memory.ts'
import { parseInSteps, parsePolicySet } from '../../src/policy/set/policy-set.ts'
import { policyFiles, widestModel } from './policy-text.ts'

const line = fc.oneof(
  { weight: 6, arbitrary: fc.nat(5).map((at) => `p, team-${at}, /api/v1/things-${at}/:id, GET`) },
  fc.constantFrom(
    'p, team-1, /api/v1/x, GET, deny',
    'g, team-1, team-9',
    '  # a comment',
    '',
    'p, "team-1", /api/v1/quoted, POST',
  ),
  { weight: 1, arbitrary: fc.constantFrom('p, team-1, no-slash, GET', 'q, x', '# postern: empty') },
)
const file = fc.tuple(
  fc.constantFrom('', '\uFEFF'),
  fc.array(line, { maxLength: 12 }),
  fc.constantFrom('\n', '\r\n'),
  fc.boolean(),
)
const edit = fc.record({
  at: fc.nat(),
  remove: fc.nat(3),
  insert: fc.array(line, { maxLength: 3 }),
})

function textOf([mark, lines, newline, ends]: readonly [string, string[], string, boolean]) {
  return mark + lines.join(newline) + (ends ? newline : '')
}

/** What comes of files: the policy set, or the problems. */
function outcome(read: () => unknown): unknown {
  try {
    return read()
  } catch (error) {
    if (error instanceof Invalid) return error.problems
    throw error
  }
}

function filesWith(text: string) {
  return policyFiles({ model: widestModel, lines: [] }).map((each) =>
    each.name.endsWith('.csv') ? { ...each, text } : each,
  )
}

describe('a memory of lines', () => {
  test('changes nothing about what comes of a series of edits', () => {
    fc.assert(
      fc.property(file, fc.array(edit, { maxLength: 6 }), (start, edits) => {
        const memory = createLineMemory()
        let [mark, lines, newline, ends] = start
        for (const { at, remove, insert } of [{ at: 0, remove: 0, insert: [] }, ...edits]) {
          lines = lines.toSpliced(at % (lines.length + 1), remove, ...insert)
          const files = filesWith(textOf([mark, lines, newline, ends]))
          expect(outcome(() => finish(parseInSteps(files, memory)))).toEqual(
            outcome(() => parsePolicySet(files)),
          )
        }
      }),
      { numRuns: 500 },
    )
  })

  test('changes nothing when characters go or come anywhere in the text', () => {
    const lines = ['p, a, /api/one, GET', 'p, a, /api/two, GET', 'g, b, a', '# end']
    const text = `${lines.join('\n')}\n`
    for (let at = 0; at <= text.length; at++) {
      for (const changed of [
        text.slice(0, at) + text.slice(at + 1),
        `${text.slice(0, at)}\n${text.slice(at)}`,
        `${text.slice(0, at)}x${text.slice(at)}`,
        text.slice(0, at),
        text.slice(at),
      ]) {
        const memory = createLineMemory()
        finish(parseInSteps(filesWith(text), memory))
        expect(outcome(() => finish(parseInSteps(filesWith(changed), memory)))).toEqual(
          outcome(() => parsePolicySet(filesWith(changed))),
        )
      }
    }
  })

  test('does not let a line stand that another model refuses', async () => {
    const memory = createLineMemory()
    const lines = ['p, a, /api/one, GET', 'p, a, /api/two, *']
    await preparePolicies(policyFiles({ model: widestModel, lines }), { memory })

    const narrower = policyFiles({ model: { ...widestModel, anyMethod: false }, lines })
    await expect(preparePolicies(narrower, { memory })).rejects.toThrow(Invalid)
  })

  test('hands out the very rules of unchanged lines, so that they are read and kept once', () => {
    const memory = createLineMemory()
    const before = finish(parseInSteps(filesWith('p, a, /x, GET\np, a, /y, GET\n'), memory))
    const after = finish(parseInSteps(filesWith('p, a, /x, GET\np, a, /z, GET\n'), memory))

    expect(after.rules[0]).toBe(before.rules[0])
    expect(after.rules[1]).toMatchObject({ path: '/z', origin: { line: 2 } })
  })

  test('keeps nothing of a policy that is larger than it may hold', () => {
    const memory = createLineMemory(10)
    finish(parseInSteps(filesWith('p, a, /x, GET\n'), memory))

    expect(memory.recall('policy.csv', filesWith('')[0]?.text ?? '')).toBeUndefined()
  })
})
