/** The middle one of an odd number, else the mean of the two in the middle. */
export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((one, other) => one - other)
  const at = (index: number) => sorted[index] ?? Number.NaN
  const middle = sorted.length / 2
  return (at(Math.ceil(middle) - 1) + at(Math.floor(middle))) / 2
}

export function rounded(number: number, digits = 2): number {
  return Math.round(number * 10 ** digits) / 10 ** digits
}

/** Windows of load, one after the other. */
export interface Phase {
  readonly isWatched: boolean
  /** CPU per request of each window. */
  readonly cpuMicros: readonly number[]
}

/**
 * How much more a request takes while someone watches. Each watched phase is compared with the mean of the two
 * around it, so that a machine that gets slower or faster does not decide. `interval` is where 95 of 100
 * such runs would have the ratio; `control` is the same comparison of phases that do not differ.
 */
export function comparePhases(phases: readonly Phase[]) {
  const levels = phases.map(({ cpuMicros }) => median(cpuMicros))
  const compared = (at: number, distance: number) => {
    const [before, after] = [levels[at - distance], levels[at + distance]]
    const level = levels[at]
    if (before === undefined || after === undefined || level === undefined) return []
    return [level / ((before + after) / 2)]
  }
  const of = (isWatched: boolean) =>
    [...phases.keys()].filter((at) => phases[at]?.isWatched === isWatched)
  const ratios = of(true).flatMap((at) => compared(at, 1))
  const controls = of(false).flatMap((at) => compared(at, 2))
  const levelOf = (isWatched: boolean) =>
    rounded(median(of(isWatched).map((at) => levels[at] ?? 0)))
  return {
    ...summaryOf(ratios),
    cpuMicros: { without: levelOf(false), watched: levelOf(true) },
    phases: ratios.map((each) => rounded(each, 3)),
    control: summaryOf(controls),
  }
}

function summaryOf(ratios: readonly number[]) {
  return {
    ratio: rounded(median(ratios), 3),
    interval: intervalOf(ratios).map((each) => rounded(each, 3)),
  }
}

const resamples = 10_000

/** The bounds of the median in 95 of 100 samples of these numbers, each as many as there are, with repetition. */
export function intervalOf(numbers: readonly number[]): readonly [number, number] {
  const random = createRandom()
  const medians = Array.from({ length: resamples }, () =>
    median(numbers.map(() => numbers[Math.floor(random() * numbers.length)] ?? Number.NaN)),
  ).toSorted((one, other) => one - other)
  const at = (share: number) => medians[Math.floor(share * resamples)] ?? Number.NaN
  return [at(0.025), at(0.975)]
}

/** From 0 to 1, the same numbers in each run: two reports of one measurement must not differ. */
function createRandom(): () => number {
  let state = 1
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
