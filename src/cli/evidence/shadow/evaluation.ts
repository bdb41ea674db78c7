import { setTimeout as pause } from 'node:timers/promises'
import { combineEvidence, type FleetEvidence } from '../../../policy/shadow/fleet-evidence.ts'
import type { PolicyStore } from '../../../stores/policies/policy-store.ts'
import type { Io } from '../../io.ts'
import { createProgress } from '../../progress.ts'

const everyMs = 100

/** Waits until every running replica has said whether it evaluates the shadow, or until the timeout. */
export async function awaitEvaluation(
  { seconds, expected }: { readonly seconds: number; readonly expected: number | undefined },
  { store, io }: { readonly store: PolicyStore; readonly io: Io },
): Promise<FleetEvidence> {
  const progress = createProgress(io)
  const until = performance.now() + seconds * 1000
  for (;;) {
    const evidence = combineEvidence(await store.replicas(), await store.shadow.reports())
    const missing = evidence.replicas.filter(({ state }) => state === 'missing').length
    const isComplete = evidence.replicas.length > 0 && missing === 0
    if (isComplete && (expected === undefined || evaluatingOf(evidence) === expected)) {
      progress.end()
      return evidence
    }
    if (performance.now() >= until) {
      progress.end()
      return evidence
    }
    progress.show(() => `waiting for replicas: ${evaluatingOf(evidence)} evaluate the shadow`)
    await pause(everyMs)
  }
}

/** Whether all running replicas evaluate the shadow. No replicas prove nothing. */
export function isEvaluated(
  evidence: FleetEvidence,
  { allowLost, expected }: { readonly allowLost: boolean; readonly expected: number | undefined },
): boolean {
  if (expected !== undefined && evaluatingOf(evidence) !== expected) return false
  const { replicas } = evidence
  if (replicas.some(({ state }) => state === 'failed' || state === 'missing')) return false
  if (allowLost) return true
  return evaluatingOf(evidence) > 0 && !replicas.some(({ state }) => state === 'lost')
}

function evaluatingOf({ replicas }: FleetEvidence): number {
  return replicas.filter(({ state }) => state === 'evaluating').length
}
