import { combineEvidence, type FleetEvidence } from '../../policy/shadow/fleet-evidence.ts'
import type { PolicyStore } from '../../stores/policies/policy-store.ts'
import { decline } from '../declined.ts'
import type { PolicySettings } from '../policy-settings.ts'

export type { Disagreement, ShadowCounts, Would } from '../../policy/shadow/evidence.ts'
export type { ReplicaEvidence } from '../../policy/shadow/fleet-evidence.ts'
export type { Obstacle, PromotionTerms } from '../../policy/shadow/promotion.ts'
export type { FleetEvidence }

/** The shadow, and what all replicas have seen of it. */
export type ObservedShadow = NonNullable<Awaited<ReturnType<typeof readShadow>>>

/** `undefined` when no shadow runs; `at` says when it was pushed. Declines one that no gateway could read. */
export async function readShadow(store: PolicyStore) {
  const stored = await store.shadow.read()
  if (stored === undefined) return undefined
  const { head } = stored
  if (head === undefined) {
    return decline('the shadow in Redis is not valid: run "postern policy shadow end"')
  }
  const evidence = combineEvidence(await store.replicas(), await store.shadow.reports())
  const live = (await store.head())?.revision
  return { head, at: new Date(head.sequence).toISOString(), live, evidence }
}

/** The shadow that the user names. Declines another one. */
export async function findShadow(name: string, store: PolicyStore) {
  const shadow = await readShadow(store)
  if (shadow === undefined) {
    return decline('refused: no shadow runs: push one with "postern policy push --shadow -m WHY"')
  }
  const { revision } = shadow.head
  if (revision.startsWith(name)) return shadow
  return decline(`refused: the shadow is ${revision}, and not ${name}`)
}

/** Shadows need gateways that load policies from Redis. */
export function refuseFiles({ config }: PolicySettings): void {
  if (config?.policy.source !== 'files') return
  decline(
    'refused: policy.source is "files", and gateways evaluate shadows from Redis only: set policy.source to redis, or ask recorded decisions with "postern policy replay"',
  )
}
