import fc from 'fast-check'
import { expect, test } from 'vitest'
import { json, jsonLine, jsonPieces } from '../../src/cli/format.ts'

test('pieces of JSON are the document', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
      expect([...jsonPieces(value)].join('')).toBe(json(value))
    }),
  )
  const document = { a: undefined, b: [undefined, { c: undefined, d: [] }], e: {}, f: { g: [[1]] } }
  expect([...jsonPieces(document)].join('')).toBe(json(document))
})

test('JSON has no character that a terminal obeys or that reorders text', () => {
  const value = { 'a\u009b': ['x\u007f\u009b2J', '\u202eabc', '\u2028', '\u{e0001}', 'é ✓ 😀\n'] }
  for (const text of [json(value), jsonLine(value), [...jsonPieces(value)].join('')]) {
    expect(JSON.parse(text)).toEqual(value)
    expect(text).not.toMatch(/[^\P{Cc}\n]|[\p{Cf}\p{Zl}\p{Zp}]/u)
    expect(text).toContain('é ✓ 😀')
  }
})
