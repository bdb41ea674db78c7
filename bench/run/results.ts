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

/** Every sample of a run. */
export interface Results {
  add(cell: CellName, round: number, figures: Figures): void
  cells(): readonly CellName[]
  /** The figure in every round that has it. */
  samples(cell: CellName, figure: Figure): readonly number[]
  /** The median over the rounds. */
  median(cell: CellName, figure: Figure): number | undefined
  /** The median of the ratios of each round: within a round the machine was equally busy for both. */
  ratio(of: CellName, to: CellName, figure: Figure): number | undefined
  addPairs(target: string, pairs: readonly Pair[]): void
  /**
   * The ratio of the lower quartiles of both sides' windows. Other work on a shared machine makes a
   * window more expensive, by half and more, so the cheaper windows are the undisturbed ones.
   */
  pairedRatio(target: string): number | undefined
}

export function createResults(): Results {
  const pairs = new Map<string, readonly Pair[]>()
  const cells = new Map<string, CellName & { readonly rounds: Map<number, Figures> }>()
  const find = ({ peer, workload }: CellName) => cells.get(`${peer} ${workload}`)

  function samples(cell: CellName, figure: Figure): readonly number[] {
    return [...(find(cell)?.rounds.values() ?? [])].flatMap((figures) => figures[figure] ?? [])
  }

  return {
    add({ peer, workload }, round, figures) {
      const cell = find({ peer, workload }) ?? { peer, workload, rounds: new Map() }
      cell.rounds.set(round, figures)
      cells.set(`${peer} ${workload}`, cell)
    },
    cells: () => [...cells.values()],
    samples,
    median: (cell, figure) => medianOf(samples(cell, figure)),
    ratio(of, to, figure) {
      const others = find(to)?.rounds
      return medianOf(
        [...(find(of)?.rounds ?? [])].flatMap(([round, figures]) => {
          const [one, other] = [figures[figure], others?.get(round)?.[figure]]
          return one === undefined || other === undefined ? [] : one / other
        }),
      )
    },
    addPairs: (target, more) => void pairs.set(target, [...(pairs.get(target) ?? []), ...more]),
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
