import type { PlannedCell } from './plan.ts'
import type { CellName } from './results.ts'
import type { Target } from './targets.ts'

/** Round after round. Every other one goes backwards: a machine that gets slower does so for all. */
export function orderRounds<T>(cells: readonly T[], rounds: number): readonly (readonly T[])[] {
  return Array.from({ length: rounds }, (_, at) => (at % 2 === 0 ? cells : cells.toReversed()))
}

/** A target of CPU time whose sides are both there. */
export interface ComparedCells {
  readonly name: string
  readonly of: PlannedCell
  readonly to: PlannedCell
}

/** What is compared window by window. */
export function comparedCells(
  cells: readonly PlannedCell[],
  targets: readonly Target[],
): readonly ComparedCells[] {
  return targets.flatMap(({ name, figure, of, to }) => {
    const [one, other] = [findCell(cells, of), to && findCell(cells, to)]
    if (figure !== 'cpuMicros' || one === undefined || other === undefined) return []
    return { name, of: one, to: other }
  })
}

function findCell(
  cells: readonly PlannedCell[],
  { peer, workload }: CellName,
): PlannedCell | undefined {
  return cells.find((cell) => cell.peer.name === peer && cell.workload.name === workload)
}
