import { runLoad } from './load.ts'
import { untilQuiet } from './measure.ts'
import type { RunningPeer } from './running-peer.ts'
import type { Workload } from './workloads.ts'

/** What comes before all figures: so many requests, or so many seconds where they take longer. */
export interface WarmUp {
  readonly requests: number
  readonly mostSeconds: number
}

/**
 * Loads a peer with everything that it will be measured with, a second of each in turn, since what
 * compiles at run time gets cheaper for 100,000 requests and more. One with several processes is
 * given as much for each. Returns how many requests were answered.
 */
export async function warmUp(
  { pid, port, directory, peer, emptyLogs }: RunningPeer,
  workloads: readonly Workload[],
  { requests, mostSeconds }: WarmUp,
): Promise<number> {
  const { processes = 1 } = peer
  let answered = 0
  for (let at = 0; at < mostSeconds * processes && answered < requests * processes; at++) {
    const workload = workloads[at % workloads.length]
    if (workload === undefined) break
    answered += (await runLoad({ workload, port, seconds: 1, directory })).requests
  }
  await untilQuiet(pid)
  await emptyLogs()
  return answered
}
