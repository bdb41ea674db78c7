import { rowsPerStep, type Steps } from '../rule/steps.ts'

/** How many entries are sorted at a stretch before sorted runs are merged. */
const runLength = 1024

/**
 * The texts in the order of their UTF-16 code units, as `sort` has them, in steps. The built-in sort
 * of a hundred thousand texts cannot be interrupted.
 */
export function* sortInSteps(texts: readonly string[]): Steps<readonly string[]> {
  const sorted: string[] = []
  for (let start = 0; start < texts.length; start += runLength) {
    for (const text of texts.slice(start, start + runLength).sort()) sorted.push(text)
    yield
  }
  return yield* mergeRuns(sorted, sorted.slice())
}

/** The numbers in their order, in steps; the list that is passed in is used up. */
export function* sortNumbersInSteps(numbers: Float64Array): Steps<Float64Array> {
  for (let start = 0; start < numbers.length; start += runLength) {
    numbers.subarray(start, start + runLength).sort()
    yield
  }
  return yield* mergeRuns(numbers, numbers.slice())
}

/** Merges sorted runs until there is one, back and forth between two lists of the same length. */
function* mergeRuns<List extends string[] | Float64Array>(one: List, other: List): Steps<List> {
  let from = one
  let to = other
  for (let run = runLength; run < from.length; run *= 2) {
    for (let start = 0; start < from.length; start += run * 2) {
      yield* mergePair(from, start, run, to)
    }
    const merged = to
    to = from
    from = merged
  }
  return from
}

/** Writes the two runs that follow each other at `start` to the same place of `to`, merged. */
function* mergePair(
  from: string[] | Float64Array,
  start: number,
  run: number,
  to: string[] | Float64Array,
): Steps<void> {
  const middle = Math.min(start + run, from.length)
  const end = Math.min(middle + run, from.length)
  let left = start
  let right = middle
  for (let at = start; at < end; at++) {
    if (at % (rowsPerStep * 8) === 0) yield
    const takesLeft =
      right === end || (left < middle && (from[left] as string) <= (from[right] as string))
    to[at] = from[takesLeft ? left++ : right++] as string & number
  }
}
