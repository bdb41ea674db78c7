import { boundedKey, kept } from './kept-text.ts'

/** What all counters of a replay may keep together. */
export interface Budget {
  left: number
}

const maxSome = 5

/** Counts different texts exactly, as long as its own limit and the common budget allow. */
export function createDistinct(limit: number, budget: Budget) {
  const seen = new Set<string>()
  const some: string[] = []
  let isExact = true
  return {
    add(text: string) {
      const key = boundedKey(text)
      if (seen.has(key)) return
      // The first one is always kept: a change without a role says little.
      if (seen.size >= limit || (budget.left === 0 && seen.size > 0)) {
        isExact = false
        return
      }
      if (budget.left > 0) budget.left--
      seen.add(kept(key))
      if (some.length < maxSome) some.push(kept(text))
    },
    result: () => ({ count: seen.size, isExact, some }),
  }
}
