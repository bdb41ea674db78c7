import type { PlannedCell } from './plan.ts'
import type { CellName } from './results.ts'
import type { Target } from './targets.ts'

type Pair = Pick<Target, 'of' | 'to'>

/**
 * The order of a round: workload after workload, but what a target compares stands side by side, the
 * first targets nearest, so that the two figures of a ratio are taken seconds apart.
 */
export function orderCells(
  cells: readonly PlannedCell[],
  targets: readonly Pair[],
): readonly PlannedCell[] {
  const chains = chain(cells, targets)
  const isChained = (cell: PlannedCell) => chains.some((one) => one.cells.includes(cell))
  const workloads = [...new Set(cells.map(({ workload }) => workload.name))]
  return workloads.flatMap((name) => [
    ...cells.filter((cell) => cell.workload.name === name && !isChained(cell)),
    ...chains.filter(({ workload }) => workload === name).flatMap((one) => one.cells),
  ])
}

/** Round after round. Every other one goes backwards: a machine that gets slower does so for all. */
export function orderRounds<T>(cells: readonly T[], rounds: number): readonly (readonly T[])[] {
  return Array.from({ length: rounds }, (_, at) => (at % 2 === 0 ? cells : cells.toReversed()))
}

/** A target of CPU time whose sides are both there. */
export interface Comparison {
  readonly name: string
  readonly of: PlannedCell
  readonly to: PlannedCell
}

/** What is compared window by window. */
export function comparisons(
  cells: readonly PlannedCell[],
  targets: readonly Target[],
): readonly Comparison[] {
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

interface Chain {
  /** Where in the round it stands. */
  readonly workload: string
  readonly cells: PlannedCell[]
}

function chain(cells: readonly PlannedCell[], targets: readonly Pair[]): readonly Chain[] {
  const chains: Chain[] = []
  for (const { of, to } of targets) {
    const [one, other] = [findCell(cells, of), to && findCell(cells, to)]
    if (one === undefined || other === undefined) continue
    const ofOne = chains.find((each) => each.cells.includes(one))
    const ofOther = chains.find((each) => each.cells.includes(other))
    if (ofOne !== undefined && ofOther === undefined) putBeside(ofOne.cells, one, other)
    if (ofOne === undefined && ofOther !== undefined) putBeside(ofOther.cells, other, one)
    if (ofOne === undefined && ofOther === undefined) {
      chains.push({ workload: of.workload, cells: [other, one] })
    }
  }
  return chains
}

/** At the end that is nearer. */
function putBeside(cells: PlannedCell[], neighbour: PlannedCell, cell: PlannedCell): void {
  const at = cells.indexOf(neighbour)
  if (at <= cells.length - 1 - at) cells.unshift(cell)
  else cells.push(cell)
}
