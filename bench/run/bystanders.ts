import { cpuSecondsOf, cpuSecondsOfOthers, treeOf } from './processes.ts'
import type { RunningPeer } from './running-peer.ts'

/** Who else used the machine while one peer was measured. Shares are of one core. */
export interface Bystanders {
  /** The idle peer that used most, once. */
  readonly idle?: { readonly peer: string; readonly share: number }
  /** Programs that are no part of this run, over all figures. */
  readonly others: number
}

export interface BystanderWatch {
  /** Does the work of this one, and says who else used more than is good for its figure. */
  during<T>(active: RunningPeer, work: () => Promise<T>): Promise<Watched<T>>
  seen(): Bystanders
}

interface Watched<T> {
  readonly result: T
  /** Nothing, where there is nothing to say. */
  readonly remark: string
}

const toleratedOfPeer = 0.01
const toleratedOfOthers = 0.2

/** Watches the idle peers and every process that this one has not started. */
export function createBystanderWatch(all: readonly RunningPeer[]): BystanderWatch {
  const peers = all.map((running) => ({ running, pids: treeOf(running.pid) }))
  let idle: Bystanders['idle']
  let watchedSeconds = 0
  let othersSeconds = 0

  function used(active: RunningPeer) {
    const waiting = peers.filter(({ running }) => running !== active && !running.hasEnded())
    return {
      at: performance.now() / 1000,
      peers: new Map(waiting.map(({ running, pids }) => [running, cpuSecondsOf(pids)])),
      others: cpuSecondsOfOthers(),
    }
  }

  function compare(before: ReturnType<typeof used>, after: ReturnType<typeof used>): string[] {
    const seconds = after.at - before.at
    const complaints: string[] = []
    for (const [running, own] of after.peers) {
      const share = (own - (before.peers.get(running) ?? own)) / seconds
      if (share > (idle?.share ?? 0)) idle = { peer: running.label, share }
      if (share > toleratedOfPeer) complaints.push(`${running.label} used ${percent(share)}`)
    }
    // Less than before is what remains when a process has ended.
    const others = Math.max(0, after.others - before.others)
    watchedSeconds += seconds
    othersSeconds += others
    if (others / seconds > toleratedOfOthers) {
      complaints.push(`other programs used ${percent(others / seconds)}`)
    }
    return complaints
  }

  return {
    async during(active, work) {
      const before = used(active)
      const result = await work()
      const complaints = compare(before, used(active))
      return { result, remark: complaints.map((text) => ` (${text} of a core)`).join('') }
    },
    seen: () => ({
      ...(idle !== undefined && { idle }),
      others: watchedSeconds === 0 ? 0 : othersSeconds / watchedSeconds,
    }),
  }
}

/** A share as text. */
export function percent(share: number): string {
  return `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`
}
