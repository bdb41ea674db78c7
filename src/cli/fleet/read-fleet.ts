import { readFacts } from '../../fleet/read-facts.ts'
import type { ReplicaFacts } from '../../fleet/replica-facts.ts'
import { Fault } from '../../kernel/errors.ts'
import {
  type PolicySettings,
  policySettings,
  withPolicyStore,
} from '../../operations/policy-settings.ts'
import type { PolicyStore } from '../../stores/policies/policy-store.ts'
import { readLiveState } from '../../stores/policies/proposals/live-state.ts'
import type { Io } from '../io.ts'
import { askOps } from '../running/ask-ops.ts'
import { opsAddress } from '../running/ops-address.ts'

type ReplicaState = 'current' | 'behind' | 'stale' | 'lost'

export interface FleetReplica {
  readonly id: string
  readonly state: ReplicaState
  readonly revision: string | null
  readonly version: string
  /** Since its last report. */
  readonly ageSeconds: number
  readonly lastError?: string
  /** Absent for a gateway of an older version. */
  readonly facts?: ReplicaFacts
}

interface Fleet {
  /** `redis`: all that report there; `gateway`: the processes of the one that was asked. */
  readonly source: 'redis' | 'gateway'
  /** The live policy; `null`: nothing is published. */
  readonly revision: string | null
  readonly converged: boolean
  readonly counts: Readonly<Record<ReplicaState, number>>
  readonly replicas: readonly FleetReplica[]
}

interface FleetOptions {
  readonly config: string | undefined
  readonly ops: string | undefined
}

/** Every gateway that is known, by what it reports. Throws a Fault if what knows them does not answer. */
export async function readFleet(options: FleetOptions, io: Io): Promise<Fleet> {
  if (options.ops !== undefined) return ofGateway(opsAddress(options, io))
  const settings = policySettings(options.config, io)
  const byRedis =
    settings.config?.policy.source === 'redis' ||
    (settings.config === undefined && io.env['POSTERN_REDIS__URL'] !== undefined)
  if (!byRedis) return ofGateway(opsAddress(options, io))
  return withPolicyStore(settings, (store) => ofRedis(store, settings))
}

async function ofRedis(store: PolicyStore, settings: PolicySettings): Promise<Fleet> {
  const live =
    (await readLiveState(store, { trust: settings.trust(), now: Date.now() })).revision ?? null
  const replicas = (await store.replicas()).map(({ id, revision = null, ...each }) => ({
    id,
    state: each.lost ? 'lost' : each.stale ? 'stale' : revision === live ? 'current' : 'behind',
    revision,
    version: each.version,
    ageSeconds: each.ageSeconds,
    ...(each.lastError !== undefined && { lastError: each.lastError }),
    ...(each.facts !== undefined && { facts: each.facts }),
  })) satisfies readonly FleetReplica[]
  return fleetOf('redis', live, replicas)
}

async function ofGateway(ops: string): Promise<Fleet> {
  const { status, body } = await askOps(ops, '/replicas')
  const listed = (body as { readonly replicas?: unknown } | null)?.replicas
  if (!Array.isArray(listed)) {
    const reason = `the gateway at ${ops} answered ${status} without a list of replicas: it may be older than this command`
    throw new Fault('gateway', { reason })
  }
  const replicas = listed.map(ofProcess)
  return fleetOf('gateway', replicas[0]?.revision ?? null, replicas)
}

function ofProcess(value: unknown): FleetReplica {
  const { revision, version, stale, lastError, facts } = Object(value)
  const read = readFacts(facts)
  return {
    id: read?.worker === undefined ? 'gateway' : `worker-${read.worker}`,
    state: stale === true ? 'stale' : 'current',
    revision: typeof revision === 'string' ? revision : null,
    version: String(version),
    ageSeconds: 0,
    ...(typeof lastError === 'string' && { lastError }),
    ...(read !== undefined && { facts: read }),
  }
}

function fleetOf(
  source: Fleet['source'],
  revision: string | null,
  replicas: readonly FleetReplica[],
): Fleet {
  const of = (state: ReplicaState) => replicas.filter((each) => each.state === state).length
  const counts = {
    current: of('current'),
    behind: of('behind'),
    stale: of('stale'),
    lost: of('lost'),
  }
  const converged = revision !== null && replicas.length > 0 && counts.current === replicas.length
  return { source, revision, converged, counts, replicas }
}
