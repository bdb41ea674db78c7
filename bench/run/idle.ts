import { cpuSecondsOf, treeOf } from './processes.ts'
import type { RunningPeer } from './running-peer.ts'

/** The most that a peer used of a core while another was measured. */
export interface IdleShare {
  readonly peer: string
  readonly share: number
}

/** Looks at those who wait while one is measured. */
export interface IdleWatch {
  /** Does the work of this one, and notes who of the others used more than 1 % of a core. */
  during<T>(active: RunningPeer, work: () => Promise<T>): Promise<T>
  most(): IdleShare | undefined
}

const tolerated = 0.01
/** Below it, the kernel's hundredths of a second say nothing. */
const shortestSeconds = 1

export function createIdleWatch(
  all: readonly RunningPeer[],
  note: (text: string) => void,
): IdleWatch {
  const watched = all.map((running) => ({ running, pids: treeOf(running.pid) }))
  let most: IdleShare | undefined
  return {
    async during(active, work) {
      const start = performance.now()
      const before = watched.map(({ pids }) => cpuSecondsOf(pids))
      try {
        return await work()
      } finally {
        const seconds = (performance.now() - start) / 1000
        for (const [at, { running, pids }] of watched.entries()) {
          if (running === active || running.hasEnded() || seconds < shortestSeconds) continue
          const share = (cpuSecondsOf(pids) - (before[at] ?? 0)) / seconds
          if (most === undefined || share > most.share) most = { peer: running.label, share }
          if (share > tolerated) {
            const percent = `${(share * 100).toFixed(1)} % of a core`
            note(`while ${active.label} was measured, ${running.label} used ${percent}`)
          }
        }
      }
    },
    most: () => most,
  }
}
