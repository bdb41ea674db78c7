import fc from 'fast-check'
import { expect, test } from 'vitest'
import { json, jsonPieces } from '../../src/cli/format.ts'

test('pieces of JSON are the document', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
      expect([...jsonPieces(value)].join('')).toBe(json(value))
    }),
  )
  const document = { a: undefined, b: [undefined, { c: undefined, d: [] }], e: {}, f: { g: [[1]] } }
  expect([...jsonPieces(document)].join('')).toBe(json(document))
})
