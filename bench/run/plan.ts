import type { Options } from './options.ts'
import type { Peer } from './peer.ts'
import { isQuick } from './targets.ts'
import { type Workload, workloads } from './workloads.ts'

/** One start of one peer in every round. */
export interface PlannedTurn {
  readonly peer: Peer
  readonly workloads: readonly Workload[]
  readonly tls: boolean
}

/** Which peer is measured with what. Throws on a name that does not exist. */
export function planTurns(all: readonly Peer[], options: Options): readonly PlannedTurn[] {
  refuseUnknown('peer', options.peers, all)
  refuseUnknown('workload', options.workloads, workloads)
  const isChosen = (peer: Peer, workload: Workload) =>
    (options.peers?.includes(peer.name) ?? true) &&
    (options.workloads?.includes(workload.name) ?? true) &&
    (options.peers !== undefined || !options.quick || isQuick(cellOf(peer, workload))) &&
    (peer.only?.includes(workload.name) ?? true) &&
    !(peer.kind === 'plain' && workload.checkedOnly)
  return all.flatMap((peer) =>
    [false, true].flatMap((tls) => {
      const own = workloads.filter(
        (workload) => (workload.tls ?? false) === tls && isChosen(peer, workload),
      )
      return own.length === 0 ? [] : { peer, workloads: own, tls }
    }),
  )
}

function cellOf(peer: Peer, workload: Workload) {
  return { peer: peer.name, workload: workload.name }
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
