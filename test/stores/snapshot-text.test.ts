import { describe, expect, test } from 'vitest'
import { formatSnapshot, parseSnapshot } from '../../src/stores/policies/snapshot-text.ts'

describe('the text of a snapshot', () => {
  test('is JSON behind its checksum', () => {
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

  test('has the author, of whom a gateway that starts with it can say who published', () => {
    const known = { checksum: 'abc', revision: `r-${'0'.repeat(32)}`, sequence: 7 }
    const offer = { files: [{ name: 'model.conf', text: '' }], ...known, author: 'ada "x"' }

    expect(parseSnapshot(formatSnapshot(offer))).toEqual(offer)
    expect(parseSnapshot(formatSnapshot({ ...offer, author: 5 as unknown as string }))).toBe(
      undefined,
    )
  })
})
