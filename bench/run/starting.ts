import type { Peer } from './peer.ts'
import type { PlannedCell } from './plan.ts'
import type { Failure } from './report.ts'
import { asError, type RunningPeer, type Surroundings, startPeer } from './running-peer.ts'
import { type WarmUp, warmUp } from './warm-up.ts'

/** The peers that take part, each once without TLS and once with, where that is measured. */
export interface RunningPeers {
  readonly all: readonly RunningPeer[]
  /** `undefined` when it could not be started. */
  of(cell: PlannedCell): RunningPeer | undefined
  stop(): Promise<void>
}

export interface Starting extends Surroundings {
  readonly warmUp: WarmUp
  readonly note: (text: string) => void
  /** Told of everyone that does not take part. */
  readonly failed: (failure: Failure) => void
}

/** Starts, proves and warms up everybody who is in the plan. They stay up, idle, until stopped. */
export async function startPeers(
  cells: readonly PlannedCell[],
  { note, failed, warmUp: rule, ...surroundings }: Starting,
): Promise<RunningPeers> {
  const all: RunningPeer[] = []

  async function attempt(peer: Peer, tls: boolean): Promise<void> {
    const workloads = cells
      .filter((cell) => cell.peer === peer && hasTls(cell) === tls)
      .map(({ workload }) => workload)
    if (workloads.length === 0) return
    let running: RunningPeer | undefined
    try {
      running = await startPeer(peer, tls, surroundings)
      const start = Date.now()
      const answered = await warmUp(running, workloads, rule)
      const seconds = Math.round((Date.now() - start) / 1000)
      all.push(running)
      note(`${running.label} is up and warm: ${answered} requests in ${seconds} s`)
    } catch (error) {
      await running?.stop()
      const { message: why } = asError(error)
      note(`left out: ${peer.name}${tls ? ' with TLS' : ''}: ${why}`)
      failed({ peer: peer.name, ...(tls && { workload: 'tls' }), why })
    }
  }

  for (const peer of new Set(cells.map((cell) => cell.peer))) {
    await attempt(peer, false)
    await attempt(peer, true)
  }
  return {
    all,
    of: (cell) => all.find(({ peer, tls }) => peer === cell.peer && tls === hasTls(cell)),
    async stop() {
      await Promise.all(all.map((running) => running.stop()))
    },
  }
}

function hasTls({ workload }: PlannedCell): boolean {
  return workload.tls ?? false
}
