import { type Expiring, endOf } from '../rule/until.ts'
import { rowsPerStep, type Steps } from '../steps.ts'
import { sortInSteps } from './sorting.ts'

/** The entries of several lists without repetitions. */
interface Distinct<T> {
  /**
   * Of the entries that say the same the one that is valid for longest, else the first, in the order
   * of the lists; frozen.
   */
  readonly list: readonly T[]
  /** The key of each, sorted. */
  readonly keys: readonly string[]
}

/**
 * Drops repetitions: entries with the same key say the same. Finds them by sorting the keys, which the
 * revision needs anyway; a map of all keys would stop for milliseconds whenever it grows.
 */
export function* distinct<T extends Expiring>(
  lists: readonly (readonly T[])[],
  keyOf: (each: T) => string,
): Steps<Distinct<T>> {
  const all = lists.flat()
  const keys: string[] = []
  for (const each of all) if (keys.push(keyOf(each)) % rowsPerStep === 0) yield

  const sorted = yield* sortInSteps(keys)
  const once: string[] = []
  const repeated = new Set<string>()
  for (const [index, key] of sorted.entries()) {
    if (index % (rowsPerStep * 8) === 0) yield
    if (key === sorted[index - 1]) repeated.add(key)
    else once.push(key)
  }

  const latest = new Map<string, number>()
  if (repeated.size > 0) {
    for (const [index, each] of all.entries()) {
      const key = keys[index] ?? ''
      const known = repeated.has(key) ? all[latest.get(key) ?? -1] : each
      if (known === undefined || endOf(known) < endOf(each)) latest.set(key, index)
    }
  }
  const isKept = (_: T, index: number) => (latest.get(keys[index] ?? '') ?? index) === index
  return { list: Object.freeze(repeated.size === 0 ? all : all.filter(isKept)), keys: once }
}
