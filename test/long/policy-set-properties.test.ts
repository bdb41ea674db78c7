import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Invalid } from '../../src/kernel/errors.ts'
import { endOf } from '../../src/policy/rule/until.ts'
import { formatModel } from '../../src/policy/set/format.ts'
import { type PolicyFile, type PolicySet, parsePolicySet } from '../../src/policy/set/policy-set.ts'
import { formatPolicyFiles } from '../policy/format-policy.ts'
import { shippedModel, widestModel } from '../policy/policy-text.ts'

function tryToParse(files: readonly PolicyFile[]): PolicySet | undefined {
  try {
    return parsePolicySet(files)
  } catch (error) {
    expect(error).toBeInstanceOf(Invalid)
    expect((error as Invalid).problems.length).toBeGreaterThan(0)
    return undefined
  }
}

const shippedText = (name: string) => readFileSync(`policies/${name}`, 'utf8')
const bytes = fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array).toString('utf8'))
const anyText = fc.oneof(bytes, fc.string({ unit: 'binary', maxLength: 200 }))

/** A text with a piece cut out and another put in its place. */
const spoiled = (text: string) =>
  fc
    .tuple(
      fc.nat(text.length),
      fc.nat(12),
      fc.oneof(anyText, fc.constantFrom('\n', '"', ',', ':', '*', '#', '[')),
    )
    .map(([at, length, piece]) => text.slice(0, at) + piece + text.slice(at + length))

const field = fc.oneof(
  fc.constantFrom(
    'editor',
    'viewer',
    'a, b',
    ' x ',
    '/api',
    '/api/:id',
    '/api/*',
    '/a b',
    'GET',
    '*',
    'deny',
    '',
  ),
  fc.string({ maxLength: 6 }),
  fc.string({ unit: 'grapheme', maxLength: 6 }),
)
const line = fc
  .tuple(
    fc.constantFrom('p', 'p', 'g', '#', 'x'),
    fc.array(field, { maxLength: 5 }),
    fc.constantFrom(
      '',
      '',
      '# postern: until 2026-12-01\n',
      '# postern: until 2026-12-01T18:00:00Z\n',
    ),
  )
  .map(([type, fields, comment]) => {
    const texts = fields.map((text) => (text.includes(',') ? `"${text}"` : text))
    return `${comment}${[type, ...texts].join(', ')}`
  })
const goodLine = fc
  .tuple(
    fc.constantFrom(
      '',
      '# postern: until 2026-12-01\n',
      '# postern: until 2031-01-01T00:00:00.5Z\n',
    ),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }),
    fc.constantFrom('/x', '/x/:id', '/x/*', '/x*'),
  )
  .map(([comment, role, path]) => `${comment}p, "${role}", ${path}, GET`)
const reason = fc.string({ unit: 'binary', maxLength: 20 }).map((text) => JSON.stringify(text))

const files = fc
  .record({
    model: fc.oneof(
      fc.constantFrom(formatModel(shippedModel), formatModel(widestModel)),
      spoiled(shippedText('model.conf')),
      anyText,
    ),
    table: fc.oneof(
      fc.array(line, { maxLength: 5 }).map((lines) => lines.join('\n')),
      goodLine,
      spoiled(shippedText('policy.csv')),
      anyText,
    ),
    exclusions: fc.oneof(
      fc.constant(''),
      reason.map((text) => `- { method: GET, path: /me, reason: ${text} }`),
      reason.map(
        (text) => `# postern: until 2026-12-01\n- { method: GET, path: /me, reason: ${text} }`,
      ),
      spoiled(shippedText('exclusions.yaml')),
      anyText,
    ),
  })
  .map(({ model, table, exclusions }) => [
    { name: 'model.conf', text: model },
    { name: 'policy.csv', text: table },
    { name: 'exclusions.yaml', text: exclusions },
  ])

describe('any files whatever', () => {
  test('are a policy set that survives being written and read again, or Invalid', () => {
    let accepted = 0

    fc.assert(
      fc.property(files, (given) => {
        const set = tryToParse(given)
        if (set === undefined) return
        accepted++
        const again = parsePolicySet(formatPolicyFiles(set))
        expect(again.revision).toBe(set.revision)
        expect(again.rules.length).toBe(set.rules.length)
        expect(again.exclusions.map(endOf)).toEqual(set.exclusions.map(endOf))
      }),
      { numRuns: 5_000 },
    )

    expect(accepted).toBeGreaterThan(50)
  })

  test('with any names are a policy set or Invalid', () => {
    const name = fc.oneof(
      fc.constantFrom('model.conf', 'a.csv', 'exclusions.yaml', '/', ''),
      fc.string(),
    )

    fc.assert(
      fc.property(fc.array(fc.record({ name, text: anyText }), { maxLength: 6 }), (given) => {
        tryToParse(given)
      }),
    )
  })
})
