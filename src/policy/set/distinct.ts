import { rowsPerStep, type Steps } from '../rule/steps.ts'
import { sortInSteps } from './sorting.ts'

/** What is left of lists when of those that say the same only the first is kept. */
export interface Distinct<T> {
  /** In the order of the lists; frozen. */
  readonly list: readonly T[]
  /** The key of each, sorted. */
  readonly keys: Iterable<string>
}

/** Finds what says the same by sorting the keys, which the revision needs anyway. */
export function* distinct<T>(
  lists: readonly (readonly T[])[],
  keyOf: (each: T) => string,
): Steps<Distinct<T>> {
  const all: T[] = []
  const keys: string[] = []
  for (const list of lists) {
    for (const each of list) {
      all.push(each)
      if (keys.push(keyOf(each)) % rowsPerStep === 0) yield
    }
  }

  const sorted = yield* sortInSteps(keys)
  const once: string[] = []
  const repeated = new Set<string>()
  for (const [index, key] of sorted.entries()) {
    if (index % (rowsPerStep * 8) === 0) yield
    if (key === sorted[index - 1]) repeated.add(key)
    else once.push(key)
  }
  if (repeated.size === 0) return { list: Object.freeze(all), keys: once }

  const first: T[] = []
  const seen = new Set<string>()
  for (const [index, each] of all.entries()) {
    if (index % (rowsPerStep * 8) === 0) yield
    const key = keys[index] ?? ''
    if (seen.has(key)) continue
    if (repeated.has(key)) seen.add(key)
    first.push(each)
  }
  return { list: Object.freeze(first), keys: once }
}
