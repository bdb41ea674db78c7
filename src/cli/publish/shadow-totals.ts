import type { ShadowCounts } from '../../policy/shadow/evidence.ts'
import { combineEvidence, type FleetEvidence } from '../../policy/shadow/fleet-evidence.ts'
import type { PolicyStore, ReplicaReport } from '../../stores/policies/policy-store.ts'
import { formatDuration } from '../duration.ts'
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

/** What the history says about the shadow of a promotion; empty for other evidence. */
export function formatPromotion(evidence: Readonly<Record<string, unknown>> | undefined): string {
  if (evidence?.['kind'] !== 'shadow') return ''
  const number = (name: string) =>
    Number.isSafeInteger(evidence[name]) ? Number(evidence[name]) : 0
  const counts = {
    evaluated: number('evaluated'),
    wouldDeny: number('wouldDeny'),
    wouldAllow: number('wouldAllow'),
    failed: number('failed'),
  }
  const time = formatDuration(number('seconds') * 1000)
  return ` (shadow on ${count(number('replicas'), 'replica')} for ${time}: ${formatCounts(counts)})`
}
