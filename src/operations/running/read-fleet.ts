import { clockWarning } from '../../fleet/clock-offset.ts'
import { readFacts } from '../../fleet/read-facts.ts'
import { Fault } from '../../kernel/errors.ts'
import type { PolicyStore } from '../../stores/policies/policy-store.ts'
import { readLiveState } from '../../stores/policies/proposals/live-state.ts'
import type { DocumentOf, RunOf } from '../operation.ts'
import { type PolicySettings, policySettings, withPolicyStore } from '../policy-settings.ts'
import { askOps } from './ask-ops.ts'
import type { fleet } from './descriptions.ts'
import { type OpsContext, opsAddress } from './ops-address.ts'

type Fleet = DocumentOf<typeof fleet>
type FleetReplica = Fleet['replicas'][number]

/** Every gateway that is known, by what it reports. Throws a Fault if what knows them does not answer. */
export async function readFleet(ops: string | undefined, context: OpsContext): Promise<Fleet> {
  if (ops !== undefined) return ofGateway(opsAddress(ops, context))
  const settings = policySettings(context.configFile, context)
  const byRedis =
    settings.config?.policy.source === 'redis' ||
    (settings.config === undefined && context.env['POSTERN_REDIS__URL'] !== undefined)
  if (!byRedis) return ofGateway(opsAddress(ops, context))
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
  const of = (state: FleetReplica['state']) =>
    replicas.filter((each) => each.state === state).length
  const [current, behind] = [of('current'), of('behind')]
  const counts = { current, behind, stale: of('stale'), lost: of('lost') }
  const converged = revision !== null && replicas.length > 0 && current === replicas.length
  return { source, revision, converged, counts, replicas }
}

/** Shows every gateway that is known. */
export const run: RunOf<typeof fleet, { readonly now: number }> = async ({ ops }, context) => {
  const document = await readFleet(ops, context)
  const notes = document.replicas
    .filter(({ state }) => state !== 'lost')
    .map(({ id, facts }) => clockWarning(id, facts?.clock))
  return {
    document,
    shown: { now: context.now() },
    notes: notes.filter((note) => note !== ''),
    outcome: document.converged ? 'done' : 'no',
  }
}
