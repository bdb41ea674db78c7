import { rowsPerStep, type Steps } from '../rule/steps.ts'

/** The entries of several lists without repetitions. */
interface Distinct<T> {
  /** The first of the entries that say the same, in the order of the lists; frozen. */
  readonly list: readonly T[]
  /** The key of each, sorted. */
  readonly keys: readonly string[]
}

/** Drops repetitions: entries with the same key say the same. */
export function* distinct<T>(
  lists: readonly (readonly T[])[],
  keyOf: (each: T) => string,
): Steps<Distinct<T>> {
  const first = new Map<string, T>()
  let count = 0
  for (const list of lists) {
    for (const each of list) {
      if (++count % rowsPerStep === 0) yield
      const key = keyOf(each)
      if (!first.has(key)) first.set(key, each)
    }
  }
  yield
  const keys = [...first.keys()].sort()
  yield
  return { list: Object.freeze([...first.values()]), keys }
}
