import type { FeedLog } from '../../background/feed-log.ts'
import type { DecisionBatch } from '../../fleet/decision-batch.ts'
import type { ReplicaFacts } from '../../fleet/replica-facts.ts'
import type { DomainSource } from '../../policy/domain.ts'
import type { LivePolicies } from '../../policy/live.ts'
import type { Trust } from '../../signing/trust.ts'
import { createRedis, type RedisSettings } from '../redis/redis.ts'
import type { Move } from './document/policy-keys.ts'
import { openShadowFeed } from './open-shadow-feed.ts'
import { createPolicyDirectory } from './policy-directory.ts'
import { createPolicyFeed, type PolicyFeed, type PolicyState } from './policy-feed.ts'
import { createPolicySnapshot } from './policy-snapshot.ts'
import { createPublishedPolicies } from './published-policies.ts'
import { createReporting, type Reporting } from './replica-reporting.ts'
import { createDecisionFeed } from './replicas/decision-feed.ts'
import { createReplicas } from './replicas/replicas.ts'
import type { ShadowEvaluation, ShadowState } from './shadow/shadow-feed.ts'
import { createRejectionCounts, createTrustGate } from './trust-gate.ts'

interface PolicySourceSettings {
  readonly source: 'files' | 'redis'
  readonly directory: string
  readonly pollSeconds: number
  readonly snapshot?: string
  readonly maxAge?: number
  readonly replicaMemory: number
  readonly domain?: DomainSource
}

export interface OpenPolicySource extends Pick<PolicyFeed, 'current' | 'problem' | 'close'> {
  readonly revision: () => string | undefined
  /** Calls back after each attempt to read the source, successful or not. */
  readonly onAttempt: (listener: () => void) => void
  /** What `/readyz?verbose` shows. */
  readonly state: () => PolicyState & {
    readonly replica?: string
    readonly shadow?: ShadowState | undefined
  }
}

interface PolicySourceParts {
  readonly policy: PolicySourceSettings
  readonly redis: Omit<RedisSettings, 'url'> & { readonly url?: string }
  readonly live: LivePolicies
  readonly log: FeedLog
  readonly version: string
  /** Whose signatures a policy in Redis needs; without it, none. */
  readonly trust?: Trust | undefined
  /** The history that the database has, once that is open. */
  readonly recorded?: () => Promise<readonly Move[]>
  /** What this process reports to the fleet besides its policy; `undefined` while it starts. */
  readonly facts?: () => ReplicaFacts | undefined
  /** What was decided since the last call, for consoles that watch. */
  readonly takeDecisions?: () => DecisionBatch
  readonly onPropagated?: (seconds: number) => void
  /** Without it, this process evaluates no shadow. */
  readonly shadow?: ShadowEvaluation
}

/**
 * Loads the configured policies and keeps them up to date. An unusable directory is thrown: only its
 * operator can fix it. A Redis without a usable policy is retried in the background.
 */
export async function openPolicySource(parts: PolicySourceParts): Promise<OpenPolicySource> {
  const { policy, live, log } = parts
  if (policy.source === 'redis') return openRedis(parts)

  const source = createPolicyDirectory(policy.directory)
  const listeners: (() => void)[] = []
  const onChange = () => {
    for (const listener of listeners) listener()
  }
  const feed = createPolicyFeed({ source, live, log, ...shared(policy), onChange })
  await feed.start()
  if (live.revision() === undefined) {
    await feed.close()
    throw feed.failure()
  }
  return {
    ...feed,
    revision: live.revision,
    onAttempt: (listener) => void listeners.push(listener),
  }
}

async function openRedis(parts: PolicySourceParts) {
  const { policy, redis: settings, live, log, version, trust, onPropagated } = parts
  const { snapshot } = policy
  const reachable = { ...settings, url: settings.url ?? '' }
  const redis = createRedis(reachable)
  const counts = createRejectionCounts()
  const gate = trust && createTrustGate(trust, 'live', counts)
  const shadowGate = trust && createTrustGate(trust, 'shadow', counts)
  const shadow =
    parts.shadow &&
    openShadowFeed(redis, parts.shadow, { ...parts, gate: shadowGate, domain: policy.domain })
  let reporting: Reporting | undefined
  const listeners: (() => void)[] = []

  const feed = createPolicyFeed({
    source: createPublishedPolicies(redis, reachable, {
      ...{ snapshot: snapshot !== undefined, gate, recorded: parts.recorded },
      ...(shadow !== undefined && { onShadow: shadow.found }),
    }),
    live,
    log,
    ...shared(policy),
    snapshot: snapshot === undefined ? undefined : createPolicySnapshot(snapshot, log, gate),
    gate,
    onChange() {
      reporting?.changed()
      shadow?.settle()
      for (const listener of listeners) listener()
    },
    onPropagated,
  })
  // Whether it succeeds shows in the first attempt to read.
  await redis.connect().catch(() => {})
  await feed.start()
  const decisions = parts.takeDecisions && createDecisionFeed(redis, parts.takeDecisions)
  const replicas = createReplicas(redis, policy.replicaMemory * 1000)
  reporting = createReporting({
    ...{ replicas, version, state: feed.state, signed: feed.signed, log, facts: parts.facts },
    onWatched: decisions?.watched,
  })
  const { id } = reporting
  reporting.changed()
  shadow?.report(id)

  return {
    ...feed,
    revision: live.revision,
    onAttempt: (listener: () => void) => void listeners.push(listener),
    state: () => ({ ...feed.state(), replica: id, shadow: shadow?.state() }),
    async close() {
      decisions?.close()
      await feed.close()
      await shadow?.close()
      await reporting.close()
      await redis.close()
    },
  }
}

function shared({ pollSeconds, maxAge, domain }: PolicySourceSettings) {
  const maxAgeMs = maxAge === undefined ? undefined : maxAge * 1000
  return { pollMs: pollSeconds * 1000, maxAgeMs, domain }
}
