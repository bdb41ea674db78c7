import type { Sample } from './measure.ts'
import type { Pair } from './pairs.ts'

/** What is known of one peer under one workload in one round. */
export type Figures = Partial<Sample>

export type Figure = keyof Sample

/** A peer under a workload. */
export interface CellName {
  readonly peer: string
  readonly workload: string
}

export interface Cell extends CellName {
  /** By round; a round that failed is missing. */
  readonly rounds: Readonly<Record<string, Figures>>
}

/** What was taken of both sides of a target, window after window, by the name of the target. */
export type Pairs = Readonly<Record<string, readonly Pair[]>>

/** Every figure of a run. */
export interface Results {
  add(cell: CellName, round: number, figures: Figures): void
  cells(): readonly Cell[]
  /** The median over the rounds. */
  median(cell: CellName, figure: Figure): number | undefined
  /**
   * The median of the ratios of each round: what the machine had to do besides was the same for
   * both in a round, and another thing in the next.
   */
  ratio(of: CellName, to: CellName, figure: Figure): number | undefined
  addPairs(target: string, pairs: readonly Pair[]): void
  pairs(): Pairs
  /**
   * The ratio of the lower quartiles of both sides' windows. Whatever disturbs a window makes it
   * dearer, by half and more on a machine shared with others: the cheaper ones are the undisturbed.
   */
  pairedRatio(target: string): number | undefined
}

/** Empty, or with what an earlier run has written down. */
export function createResults(earlier: readonly Cell[] = [], earlierPairs: Pairs = {}): Results {
  const pairs = new Map<string, readonly Pair[]>(Object.entries(earlierPairs))
  const cells = new Map<string, CellName & { rounds: Record<string, Figures> }>(
    earlier.map((cell) => [
      `${cell.peer} ${cell.workload}`,
      { ...cell, rounds: { ...cell.rounds } },
    ]),
  )
  const find = ({ peer, workload }: CellName) => cells.get(`${peer} ${workload}`)
  return {
    add({ peer, workload }, round, figures) {
      const cell = find({ peer, workload }) ?? { peer, workload, rounds: {} }
      cell.rounds[round] = figures
      cells.set(`${peer} ${workload}`, cell)
    },
    cells: () => [...cells.values()],
    median(cell, figure) {
      const rounds = Object.values(find(cell)?.rounds ?? {})
      return medianOf(rounds.flatMap((figures) => figures[figure] ?? []))
    },
    ratio(of, to, figure) {
      const others = find(to)?.rounds ?? {}
      return medianOf(
        Object.entries(find(of)?.rounds ?? {}).flatMap(([round, figures]) => {
          const [one, other] = [figures[figure], others[round]?.[figure]]
          return one === undefined || other === undefined ? [] : one / other
        }),
      )
    },
    addPairs: (target, more) => void pairs.set(target, [...(pairs.get(target) ?? []), ...more]),
    pairs: () => Object.fromEntries(pairs),
    pairedRatio(target) {
      const taken = pairs.get(target) ?? []
      const one = lowerQuartileOf(taken.map(({ of }) => of))
      const other = lowerQuartileOf(taken.map(({ to }) => to))
      return one === undefined || other === undefined ? undefined : one / other
    },
  }
}

function lowerQuartileOf(values: readonly number[]): number | undefined {
  return values.toSorted((one, other) => one - other)[Math.floor((values.length - 1) / 4)]
}

function medianOf(values: readonly number[]): number | undefined {
  const sorted = values.toSorted((one, other) => one - other)
  const [low, high] = [sorted[Math.floor((sorted.length - 1) / 2)], sorted[sorted.length >> 1]]
  return low === undefined || high === undefined ? undefined : (low + high) / 2
}
