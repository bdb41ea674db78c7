import { combineEvidence, type FleetEvidence } from '../../policy/shadow/fleet-evidence.ts'
import type { PolicyStore, ReplicaReport } from '../../stores/policies/policy-store.ts'
import { readLiveState } from '../../stores/policies/proposals/live-state.ts'
import { decline } from '../declined.ts'
import type { RunOf } from '../operation.ts'
import { untrustedHead } from '../policy/versions.ts'
import { policySettings, withPolicyStore } from '../policy-settings.ts'
import { convergenceOf, isConverged } from './convergence.ts'
import type { policyStatus } from './descriptions.ts'

/** What only texts show. */
export interface StatusExtras {
  /** How many replicas were forgotten. */
  readonly forgotten: number | undefined
  /** What all replicas have seen of the shadow; `undefined` without one. */
  readonly evidence: FleetEvidence | undefined
}

/** Says which revision each replica uses. */
export const run: RunOf<typeof policyStatus, StatusExtras> = ({ forget: which }, context) => {
  const settings = policySettings(context.configFile, context)
  const trust = settings.trust()
  return withPolicyStore(settings, async (store) => {
    const forgotten = which === undefined ? undefined : await forget(which, store)
    const live = await readLiveState(store, { trust, now: Date.now() })
    const { head } = live
    const replicas = await store.replicas()
    const converged = head !== undefined && isConverged(convergenceOf(head, replicas))
    const stored = await store.shadow.read()
    const evidence = stored && combineEvidence(replicas, await store.shadow.reports())
    const shadow = evidence && shadowOf(stored.head?.revision, evidence)
    return {
      document: {
        ...{ converged, head: head ?? null, signatures: trust?.signatures ?? 0, replicas },
        shadow: shadow ?? null,
      },
      shown: { forgotten, evidence },
      notes: [untrustedHead(live)].filter((note) => note !== ''),
      outcome: converged ? 'done' : 'no',
    }
  })
}

function shadowOf(revision: string | undefined, evidence: FleetEvidence) {
  const { evaluated, wouldDeny, wouldAllow, failed } = evidence
  return { revision: revision ?? null, evaluated, wouldDeny, wouldAllow, failed }
}

/** Forgets lost replicas only: one that runs would be back with its next report. */
async function forget(which: string, store: PolicyStore): Promise<number> {
  const replicas: readonly ReplicaReport[] = await store.replicas()
  const lost = replicas.filter((each) => each.lost && (which === 'lost' || each.id === which))
  if (lost.length === 0 && which !== 'lost') {
    const isKnown = replicas.some(({ id }) => id === which)
    return decline(
      isKnown
        ? `replica ${which} still reports: stop it first`
        : `replica ${which} does not exist: "postern policy status" shows all replicas`,
    )
  }
  for (const { id } of lost) await store.forgetReplica(id)
  return lost.length
}
