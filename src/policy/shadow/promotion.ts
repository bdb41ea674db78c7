import type { FleetEvidence, ReplicaEvidence } from './fleet-evidence.ts'

/** What has to hold before a shadow becomes live. */
export interface PromotionTerms {
  /** For how long each replica must have evaluated it. */
  readonly afterMs: number
  readonly maxWouldDeny: number
  /** Whether lost replicas are accepted. */
  readonly allowLost: boolean
}

/** A reason not to promote a shadow. */
export type Obstacle =
  | { readonly kind: 'no-evidence' }
  | { readonly kind: 'would-deny'; readonly count: number; readonly most: number }
  | { readonly kind: 'failed'; readonly count: number }
  | { readonly kind: 'not-evaluating' | 'lost' | 'too-short'; readonly replica: ReplicaEvidence }

/** Every reason not to promote a shadow. Replicas that do not evaluate it are missing evidence. */
export function obstaclesTo(
  evidence: FleetEvidence,
  { afterMs, maxWouldDeny, allowLost }: PromotionTerms,
): readonly Obstacle[] {
  const { evaluated, wouldDeny, failed, replicas } = evidence
  return [
    ...(evaluated === 0 ? [{ kind: 'no-evidence' } as const] : []),
    ...(wouldDeny > maxWouldDeny
      ? [{ kind: 'would-deny', count: wouldDeny, most: maxWouldDeny } as const]
      : []),
    // The live policy would answer these with 503.
    ...(failed > 0 ? [{ kind: 'failed', count: failed } as const] : []),
    ...replicas.flatMap((replica) => obstacleOf(replica, { afterMs, allowLost }) ?? []),
  ]
}

function obstacleOf(
  replica: ReplicaEvidence,
  { afterMs, allowLost }: Pick<PromotionTerms, 'afterMs' | 'allowLost'>,
): Obstacle | undefined {
  const { state, evaluatingMs } = replica
  if (state === 'failed' || state === 'missing') return { kind: 'not-evaluating', replica }
  if (state === 'lost' && !allowLost) return { kind: 'lost', replica }
  if (state === 'evaluating' && evaluatingMs < afterMs) return { kind: 'too-short', replica }
  return undefined
}

/** What the history keeps about the shadow of a promotion. */
export function promotionEvidence(evidence: FleetEvidence): Readonly<Record<string, unknown>> {
  const { evaluated, wouldDeny, wouldAllow, failed, against, replicas } = evidence
  const evaluating = replicas.filter(({ state }) => state === 'evaluating')
  const shortest = Math.min(...evaluating.map(({ evaluatingMs }) => evaluatingMs))
  return {
    kind: 'shadow',
    ...{ evaluated, wouldDeny, wouldAllow, failed, against },
    replicas: evaluating.length,
    /** For how long every one of them has evaluated it. */
    seconds: Number.isFinite(shortest) ? Math.floor(shortest / 1000) : 0,
  }
}
