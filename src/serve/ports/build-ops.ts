import type { ReplicaFacts } from '../../fleet/replica-facts.ts'
import { reportUpstreams } from '../../gateway/upstream/report.ts'
import type { Upstream } from '../../gateway/upstream/upstreams.ts'
import { createReadiness } from '../../http/readiness.ts'
import { build } from '../../kernel/version.ts'
import type { OpenKeys } from '../../stores/keys/key-feed.ts'
import type { OpenPolicySource } from '../../stores/policies/open-policy-source.ts'
import { publicJwks } from '../../token/key-set.ts'
import type { GatewayOps } from '../../workers/worker.ts'
import type { Assembly } from '../assembly.ts'

interface ShownParts {
  readonly policies: OpenPolicySource
  readonly keys: OpenKeys
  readonly upstreams: () => readonly Upstream[]
  readonly facts: () => ReplicaFacts | undefined
}

/** What the ops port shows: readiness, metrics, public keys, and what each part says of itself. */
export function buildOps(
  mode: string,
  assembly: Assembly,
  { policies, keys, upstreams, facts }: ShownParts,
): GatewayOps {
  return {
    version: build,
    mode,
    readiness: createReadiness({
      revision: policies.revision,
      checks: assembly.checks(),
      details: assembly.details(),
    }),
    replicas() {
      const { stale, lastError } = policies.state()
      const own = facts()
      if (own === undefined) return []
      const revision = policies.revision() ?? null
      return [{ revision, version: build, stale, ...(lastError && { lastError }), facts: own }]
    },
    metrics: assembly.registry,
    upstreams: () => reportUpstreams(upstreams()),
    publicKeys: () => publicJwks(keys.current()),
  }
}
