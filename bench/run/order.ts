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

/**
 * Round after round. Each of the `rounds` has all cells, and `again` more after it have those of
 * which ratios are made: a ratio of two noisy figures needs more of them than a figure does. Every
 * other one goes backwards: a machine that gets slower is then slower for both sides.
 */
export function orderRounds<T>(
  cells: readonly T[],
  compared: readonly T[],
  { rounds, again }: { readonly rounds: number; readonly again: number },
): readonly (readonly T[])[] {
  return Array.from({ length: rounds * (1 + again) }, (_, at) => {
    const those = at % (1 + again) === 0 ? cells : compared
    return at % 2 === 0 ? those : those.toReversed()
  })
}

/** Those that a target compares with another that is there too. */
export function comparedCells(
  cells: readonly PlannedCell[],
  targets: readonly Pair[],
): readonly PlannedCell[] {
  const inChains = new Set(chain(cells, targets).flatMap((one) => one.cells))
  return cells.filter((cell) => inChains.has(cell))
}

interface Chain {
  /** Where in the round it stands. */
  readonly workload: string
  readonly cells: PlannedCell[]
}

function chain(cells: readonly PlannedCell[], targets: readonly Pair[]): readonly Chain[] {
  const find = ({ peer, workload }: CellName) =>
    cells.find((cell) => cell.peer.name === peer && cell.workload.name === workload)
  const chains: Chain[] = []
  for (const { of, to } of targets) {
    const [one, other] = [find(of), to === undefined ? undefined : find(to)]
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
