import type { ShadowCounts } from '../../policy/shadow/evidence.ts'
import { combineEvidence, type FleetEvidence } from '../../policy/shadow/fleet-evidence.ts'
import type { PolicyStore, ReplicaReport } from '../../stores/policies/policy-store.ts'
import { count, printable } from '../format.ts'

/** `2 of 2 replicas evaluate it: 12 decisions, 1 would be denied, 0 would be allowed`. */
export function formatTotals(evidence: FleetEvidence): string {
  const running = evidence.replicas.filter(({ state }) => state !== 'ended')
  const evaluating = running.filter(({ state }) => state === 'evaluating')
  return `${evaluating.length} of ${count(running.length, 'replica')} ${evaluating.length === 1 ? 'evaluates' : 'evaluate'} it: ${formatCounts(evidence)}\n`
}

export function formatCounts({ evaluated, wouldDeny, wouldAllow, failed }: ShadowCounts): string {
  const failures = failed === 0 ? '' : `, failed on ${failed.toLocaleString('en-US')}`
  return `${count(evaluated, 'decision')}, ${wouldDeny.toLocaleString('en-US')} would be denied, ${wouldAllow.toLocaleString('en-US')} would be allowed${failures}`
}

/** What `status` says about the shadow; `undefined` when none runs. */
export async function summarizeShadow(
  store: PolicyStore,
  replicas: readonly ReplicaReport[],
): Promise<ShadowSummary | undefined> {
  const stored = await store.shadow.read()
  if (stored === undefined) return undefined
  const evidence = combineEvidence(replicas, await store.shadow.reports())
  const { evaluated, wouldDeny, wouldAllow, failed } = evidence
  const { revision = null } = stored.head ?? {}
  const line = `shadow ${revision ?? 'that is not valid'}: ${formatTotals(evidence)}`
  return {
    json: { revision, evaluated, wouldDeny, wouldAllow, failed },
    line: printable(line.trimEnd()),
  }
}

interface ShadowSummary {
  readonly json: ShadowCounts & { readonly revision: string | null }
  readonly line: string
}
