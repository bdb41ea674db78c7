import { type Bystanders, createBystanderWatch } from './bystanders.ts'
import { measure, type Sample, untilQuiet } from './measure.ts'
import { type ComparedCells, comparedCells, orderRounds } from './order.ts'
import { measurePairs, type Side } from './pairs.ts'
import type { PlannedCell } from './plan.ts'
import { createProgress } from './progress.ts'
import type { Failure } from './report.ts'
import type { Results } from './results.ts'
import { asError, type RunningPeer } from './running-peer.ts'
import type { RunningPeers } from './starting.ts'
import { targets } from './targets.ts'
import type { Upstream } from './upstream.ts'

export interface Rounds {
  /** In their order. */
  readonly cells: readonly PlannedCell[]
  readonly peers: RunningPeers
  readonly upstream: Upstream
  readonly rounds: number
  /** How many pairs of windows are taken of what each target compares, after each of them. */
  readonly pairs: number
  readonly windowMs: number
  readonly seconds: number
  readonly results: Results
  readonly failed: (failure: Failure) => void
}

/** Whoever answers many at once is counted by chance where each connection gets few answers. */
const usual = { fewest: 10, factor: 1 }
const longer = { fewest: 1, factor: 3 }

/**
 * Every cell once in every round, each alone under load while the others idle. One that ends in the
 * middle is told of once, and the others go on. Returns who else used the machine.
 */
export async function takeRounds(options: Rounds): Promise<Bystanders> {
  const { peers, upstream, rounds, pairs, windowMs, seconds, results, failed } = options
  const cells = options.cells.filter((cell) => peers.of(cell) !== undefined)
  const order = orderRounds(cells, rounds)
  const compared = comparedCells(cells, targets)
  const progress = createProgress(order.flat().length + rounds * compared.length)
  const bystanders = createBystanderWatch(peers.all)
  const slow = new Set<PlannedCell>()
  const gone = new Set<RunningPeer>()

  async function sampleOf(cell: PlannedCell, running: RunningPeer): Promise<Sample> {
    const { pid, port, directory } = running
    const subject = { pid, port, directory, checks: cell.peer.kind !== 'plain' }
    const { fewest, factor } = slow.has(cell) ? longer : usual
    const timing = { fewest, seconds: seconds * factor }
    const sample = await measure(subject, { workload: cell.workload, upstream, ...timing })
    await untilQuiet(pid)
    if (sample !== undefined) return sample
    if (slow.has(cell)) throw new Error('too few requests were answered')
    slow.add(cell)
    return sampleOf(cell, running)
  }

  async function take(cell: PlannedCell, round: number): Promise<void> {
    const running = peers.of(cell)
    if (running === undefined || gone.has(running)) return progress.skip()
    const [peer, workload] = [cell.peer.name, cell.workload.name]
    const what = `round ${round}, ${peer}, ${workload}`
    try {
      const { result: sample, remark } = await bystanders.during(running, () =>
        sampleOf(cell, running),
      )
      await running.emptyLogs()
      const { cpuMicros, perSecond } = sample
      const figures = `${cpuMicros.toFixed(1)} µs CPU, ${Math.round(perSecond)} a second`
      progress.tell(what, `${figures}${remark ?? ''}`)
      results.add({ peer, workload }, round, sample)
    } catch (error) {
      const outcome = running.hasEnded()
        ? new Error('it has ended: nothing more of it is measured')
        : asError(error)
      if (running.hasEnded()) gone.add(running)
      progress.tell(what, outcome)
      failed({ peer, workload, round, why: outcome.message })
    }
  }

  function sideOf(cell: PlannedCell): Side {
    const running = peers.of(cell)
    if (running === undefined || gone.has(running)) throw new Error('one of them is not there')
    const { pid, port, directory } = running
    const passes = cell.peer.kind === 'plain' ? 1 : cell.workload.passes
    return { pid, port, directory, passes, workload: cell.workload }
  }

  async function compare({ name, of, to }: ComparedCells, round: number): Promise<void> {
    const what = `round ${round}, windows of ${name}`
    try {
      const got = await measurePairs([sideOf(of), sideOf(to)], { upstream, pairs, windowMs })
      results.addPairs(name, got)
      progress.tell(what, `ratio ${results.pairedRatio(name)?.toFixed(3)} until now`)
      for (const cell of [of, to]) await peers.of(cell)?.emptyLogs()
    } catch (error) {
      progress.tell(what, asError(error))
      failed({ peer: of.peer.name, workload: name, round, why: asError(error).message })
    }
  }

  for (const [at, round] of order.entries()) {
    for (const cell of round) await take(cell, at + 1)
    for (const pair of compared) await compare(pair, at + 1)
  }
  return bystanders.seen()
}
