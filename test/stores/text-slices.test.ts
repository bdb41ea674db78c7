import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { slicesOf } from '../../src/stores/policies/document/text-slices.ts'
import { formatSnapshot, parseSnapshot } from '../../src/stores/policies/snapshot-text.ts'

describe('a text in slices', () => {
  test('is whole again, and no pair is cut apart', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 50 }),
        fc.nat({ max: 7 }),
        (text, more) => {
          const slices = [...slicesOf(text, 1 + more)]

          expect(slices.join('')).toBe(text)
          expect(slices.every((slice) => slice.isWellFormed())).toBe(true)
          expect(slices.every(({ length }) => length <= 2 + more)).toBe(true)
        },
      ),
    )
  })
})

describe('the text of a snapshot', () => {
  test('is the JSON text that it would be in one piece, behind its checksum', () => {
    const long = `p, "clerk", \\ \t /a😀\n`.repeat(20_000)
    const files = [
      { name: 'model.conf', text: '' },
      { name: 'a"b.csv', text: long },
    ]
    const offer = { files, checksum: 'abc', revision: `r-${'0'.repeat(32)}`, sequence: 7 }

    const text = formatSnapshot(offer)

    const { checksum, revision, sequence } = offer
    const expected = JSON.stringify({ revision, sequence, checksum, files })
    expect(text.slice(text.indexOf('\n') + 1)).toBe(expected)
    expect(parseSnapshot(text)).toEqual(offer)
    expect(parseSnapshot(text.replace('clerk', 'clark'))).toBe(undefined)
  })
})
