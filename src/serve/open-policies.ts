import type { ReplicaFacts } from '../fleet/replica-facts.ts'
import type { DecisionWatch } from '../gateway/evidence/decision-watch.ts'
import { createShowing } from '../gateway/evidence/showing.ts'
import { addShadowMetrics, ShadowComparison } from '../gateway/shadow/shadow-comparison.ts'
import { build } from '../kernel/version.ts'
import { createLivePolicies } from '../policy/live.ts'
import { readTrust } from '../stores/keys/trusted-keys.ts'
import type { Move } from '../stores/policies/document/policy-keys.ts'
import { openPolicySource } from '../stores/policies/open-policy-source.ts'
import { addPolicyMetrics, addPropagationMetric } from '../stores/policies/policy-metrics.ts'
import type { Assembly } from './assembly.ts'
import type { ServeOptions } from './options.ts'

/** The policy and its shadow, from where they are published. */
export async function openPolicies(
  { config, log }: ServeOptions,
  parts: {
    /** Of hashes in what is recorded about a shadow. */
    readonly digestKey: () => string | undefined
    /** The history in the database, once that is open. */
    readonly recorded: () => Promise<readonly Move[]>
    readonly facts: () => ReplicaFacts | undefined
    readonly takeDecisions: DecisionWatch['take']
  },
  assembly: Assembly,
) {
  const { digestKey, ...reported } = parts
  const { policy, logger } = config
  // Shadows are pushed to Redis.
  const shadow =
    policy.source === 'redis'
      ? new ShadowComparison({
          showing: {
            path: createShowing(logger.decisions.path, 'path', digestKey),
            userId: createShowing(logger.decisions.userId, 'user', digestKey),
          },
        })
      : undefined
  const trust = policy.trust && readTrust(policy.trust, '.')
  const policies = await openPolicySource({
    ...{ ...config, ...reported, trust, log, version: build },
    live: createLivePolicies(),
    onPropagated: addPropagationMetric(assembly.registry),
    ...(shadow !== undefined && { shadow }),
  })
  assembly.add({
    metrics(registry) {
      addPolicyMetrics(registry, policies.state)
      if (shadow === undefined) return
      const live = () => policies.state().shadow
      addShadowMetrics(registry, live, () => shadow.totals())
    },
    checks: [{ name: 'policy', problem: policies.problem }],
    details: { policy: policies.state },
    close: policies.close,
  })
  return { policies, shadow, trust }
}
