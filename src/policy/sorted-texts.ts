import { rowsPerStep, type Steps } from './steps.ts'

/** How many texts are sorted at a stretch before sorted runs are merged. */
const runLength = 1024

/**
 * The texts in the order of their UTF-16 code units, as `sort` has them, in steps. The built-in sort
 * of a hundred thousand texts cannot be interrupted.
 */
export function* sortInSteps(texts: readonly string[]): Steps<readonly string[]> {
  let from: string[] = []
  for (let start = 0; start < texts.length; start += runLength) {
    for (const text of texts.slice(start, start + runLength).sort()) from.push(text)
    yield
  }
  for (let run = runLength; run < from.length; run *= 2) {
    const to: string[] = []
    for (let start = 0; start < from.length; start += run * 2) {
      yield* mergeRuns(from, start, run, to)
    }
    from = to
  }
  return from
}

/** Appends the two sorted runs that follow each other at `start` to `to`, sorted. */
function* mergeRuns(
  from: readonly string[],
  start: number,
  run: number,
  to: string[],
): Steps<void> {
  const middle = Math.min(start + run, from.length)
  const end = Math.min(middle + run, from.length)
  let left = start
  let right = middle
  while (left < middle || right < end) {
    const takesLeft = right === end || (left < middle && (from[left] ?? '') <= (from[right] ?? ''))
    to.push(from[takesLeft ? left++ : right++] ?? '')
    if (to.length % (rowsPerStep * 8) === 0) yield
  }
}
