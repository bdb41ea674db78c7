import type { Place } from './source.ts'

/** Finds lines by offset. Counts them when first asked. */
export function createLines(text: string): { readonly placeOf: (offset: number) => Place } {
  let starts: number[] | undefined
  return {
    placeOf(offset) {
      starts ??= lineStarts(text)
      let low = 0
      let high = starts.length
      while (high - low > 1) {
        const middle = (low + high) >>> 1
        if ((starts[middle] ?? 0) <= offset) low = middle
        else high = middle
      }
      return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 }
    },
  }
}

function lineStarts(text: string): number[] {
  const starts = [0]
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return starts
}
