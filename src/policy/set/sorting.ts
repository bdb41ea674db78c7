import { rowsPerStep, type Steps } from '../steps.ts'

/** Entries that the built-in sort handles in one step. */
const runLength = 1024

/**
 * Sorts texts by UTF-16 code units, as `sort` does, in steps: the built-in sort of a hundred thousand
 * keys would run for 60 ms without a rest (decision 15).
 */
export function* sortInSteps(texts: readonly string[]): Steps<readonly string[]> {
  let from: string[] = []
  for (let start = 0; start < texts.length; start += runLength) {
    from.push(...texts.slice(start, start + runLength).sort())
    yield
  }
  let to = from.slice()
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

/** Merges the two runs that follow each other at `start` into the same place of `to`. */
function* mergePair(from: string[], start: number, run: number, to: string[]): Steps<void> {
  const middle = Math.min(start + run, from.length)
  const end = Math.min(middle + run, from.length)
  let left = start
  let right = middle
  for (let at = start; at < end; at++) {
    if (at % (rowsPerStep * 8) === 0) yield
    const takesLeft =
      right === end || (left < middle && (from[left] as string) <= (from[right] as string))
    to[at] = from[takesLeft ? left++ : right++] as string
  }
}
