import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { type FuzzResult, fuzzSession } from './fuzzed-session.ts'

/** `npm run fuzz:h2` runs many more, from any seed. */
test('1,000 mutated sequences of frames break no rule', async () => {
  const results: FuzzResult[] = []
  for (let seed = 1; seed <= 1000; seed++) {
    // Sessions send at the end of a turn, and are not collected before.
    if (seed % 100 === 0) await nextTurn()
    try {
      results.push(fuzzSession(seed))
    } catch (error) {
      throw new Error(`seed ${seed}`, { cause: error })
    }
  }
  // The mutations are neither so mild nor so wild that they would show nothing.
  expect(results.filter(({ delivered }) => delivered > 0).length).toBeGreaterThan(500)
  expect(results.filter(({ hasFailed }) => hasFailed).length).toBeGreaterThan(150)
  expect(results.filter(({ hasFailed }) => !hasFailed).length).toBeGreaterThan(150)
})
