import type { Options } from './options.ts'
import type { Peer } from './peer.ts'
import { isQuick } from './targets.ts'
import { type Workload, workloads } from './workloads.ts'

/** One peer under one workload: a figure of every round. */
export interface PlannedCell {
  readonly peer: Peer
  readonly workload: Workload
}

/** Which peer is measured with what, workload after workload. Throws on a name that does not exist. */
export function planCells(
  all: readonly Peer[],
  options: Pick<Options, 'peers' | 'workloads' | 'quick'>,
): readonly PlannedCell[] {
  refuseUnknown('peer', options.peers, all)
  refuseUnknown('workload', options.workloads, workloads)
  const isChosen = (peer: Peer, workload: Workload) =>
    (options.peers?.includes(peer.name) ?? true) &&
    (options.workloads?.includes(workload.name) ?? true) &&
    (options.peers !== undefined ||
      !options.quick ||
      isQuick({ peer: peer.name, workload: workload.name })) &&
    (peer.only?.includes(workload.name) ?? true) &&
    !(peer.kind === 'plain' && workload.checkedOnly) &&
    !(workload.forSeveral && (peer.processes ?? 1) === 1)
  return workloads.flatMap((workload) =>
    all.flatMap((peer) => (isChosen(peer, workload) ? { peer, workload } : [])),
  )
}

function refuseUnknown(
  what: string,
  names: readonly string[] | undefined,
  known: readonly { readonly name: string }[],
): void {
  const unknown = names?.find((name) => known.every((one) => one.name !== name))
  if (unknown === undefined) return
  throw new Error(`no ${what} ${unknown}; there are ${known.map(({ name }) => name).join(', ')}`)
}
