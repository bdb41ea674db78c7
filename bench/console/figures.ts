/** The middle one of an odd number, else the mean of the two in the middle. */
export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((one, other) => one - other)
  const at = (index: number) => sorted[index] ?? Number.NaN
  const middle = sorted.length / 2
  return (at(Math.ceil(middle) - 1) + at(Math.floor(middle))) / 2
}

/** The value that a quarter is below: interference only adds. */
export function lowerQuartile(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((one, other) => one - other)
  return sorted[Math.floor(sorted.length / 4)] ?? Number.NaN
}

export function rounded(number: number, digits = 2): number {
  return Math.round(number * 10 ** digits) / 10 ** digits
}

/** Two ways to order two windows, so that neither is always first: without, with, with, without. */
export function alternating(pairs: number): readonly boolean[] {
  return Array.from({ length: pairs }, (_, at) =>
    at % 2 === 0 ? [false, true] : [true, false],
  ).flat()
}

/** A window of load. */
export interface Window {
  readonly isWatched: boolean
  readonly cpuMicros: number
}

/** How much more a request takes while someone watches, by two measures. */
export function compareWindows(windows: readonly Window[]) {
  const of = (isWatched: boolean) =>
    windows.filter((each) => each.isWatched === isWatched).map(({ cpuMicros }) => cpuMicros)
  const [without, watched] = [of(false), of(true)]
  // Windows that follow one another saw the same neighbors.
  const paired = watched.map((cpuMicros, at) => cpuMicros / (without[at] ?? Number.NaN))
  return {
    ratio: rounded(median(paired), 3),
    quartileRatio: rounded(lowerQuartile(watched) / lowerQuartile(without), 3),
    cpuMicros: { without: rounded(median(without)), watched: rounded(median(watched)) },
    pairs: paired.map((each) => rounded(each, 3)),
    control: controlOf(windows),
  }
}

/**
 * The same comparison of windows that do not differ: two without a watcher, one right after the other. How far
 * its quartiles are from 1 is what the machine adds by itself.
 */
function controlOf(windows: readonly Window[]) {
  const ratios = windows.flatMap(({ isWatched, cpuMicros }, at) => {
    const next = windows[at + 1]
    return isWatched || next === undefined || next.isWatched ? [] : [next.cpuMicros / cpuMicros]
  })
  const sorted = ratios.toSorted((one, other) => one - other)
  const quarter = Math.floor(sorted.length / 4)
  return {
    ratio: rounded(median(ratios), 3),
    quartiles: [sorted[quarter], sorted.at(-1 - quarter)].map((each) =>
      rounded(each ?? Number.NaN, 3),
    ),
  }
}
