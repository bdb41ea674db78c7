/** The candidate closest to `word`, if one is close enough to be a typing error. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  const wanted = folded(word)
  const reach = Math.min(Math.floor(wanted.length / 3), 3)
  let best: string | undefined
  let bestDistance = reach + 1

  for (const candidate of candidates) {
    const spelled = folded(candidate)
    if (Math.abs(spelled.length - wanted.length) >= bestDistance) continue
    const distance = editDistance(wanted, spelled)
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

/** `; did you mean x?` for the end of a message, or nothing when no candidate is near. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  const candidate = nearest(word, candidates)
  return candidate === undefined ? '' : `; did you mean ${candidate}?`
}

function folded(word: string): string {
  // The distance takes time in the square of the length, and the word comes from a file.
  return word.slice(0, 100).toLowerCase().replaceAll(/[-_]/g, '')
}

/** Damerau-Levenshtein distance: insertions, deletions, substitutions, transpositions. */
function editDistance(from: string, to: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: to.length + 1 }, (_, column) => column)

  for (let row = 1; row <= from.length; row++) {
    const current = [row]
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1]
      const swapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      current[column] = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
        swapped ? (beforeLast[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      )
    }
    beforeLast = last
    last = current
  }
  return last[to.length] ?? 0
}
