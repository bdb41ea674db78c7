import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readAnswer, spoiledAnswer, validAnswer } from './responses.ts'

const cuts = fc.array(fc.nat(), { maxLength: 8 })

describe('an answer in pieces', () => {
  test('is read, and is the same wherever it was cut', () => {
    fc.assert(
      fc.property(validAnswer, cuts, (played, places) => {
        const whole = readAnswer(played)

        expect(['over', 'end']).toContain(whole.how)
        expect(whole.length).toBe(played.text.length)
        expect(readAnswer(played, places)).toEqual(whole)
      }),
      { numRuns: 300 },
    )
  })

  test('is the same byte for byte', () => {
    fc.assert(
      fc.property(
        validAnswer.filter(({ text }) => text.length < 2000),
        (played) => {
          const everywhere = Array.from(played.text, (_, at) => at)

          expect(readAnswer(played, everywhere)).toEqual(readAnswer(played))
        },
      ),
      { numRuns: 300 },
    )
  })

  test('ends where it ends, whatever follows', () => {
    fc.assert(
      fc.property(
        validAnswer,
        fc.string({ unit: 'binary-ascii', minLength: 1 }),
        cuts,
        (...given) => {
          const [{ method, text }, more, places] = given
          const alone = readAnswer({ method, text })
          fc.pre(alone.how === 'over')

          expect(readAnswer({ method, text: text + more }, places)).toEqual(alone)
        },
      ),
      { numRuns: 300 },
    )
  })

  test('that is spoiled is refused, or is the same wherever it was cut', () => {
    const seen = new Set<string>()
    fc.assert(
      fc.property(spoiledAnswer, cuts, (played, places) => {
        const whole = readAnswer(played)
        seen.add(whole.how)

        expect(whole.length).toBeLessThanOrEqual(played.text.length)
        expect(whole.body.length).toBeLessThanOrEqual(played.text.length)
        expect({ ...readAnswer(played, places), length: 0 }).toEqual({ ...whole, length: 0 })
      }),
      { numRuns: 2500 },
    )

    expect([...seen].sort()).toEqual(['end', 'malformed', 'over', 'unfinished'])
  })
})
