import type { Config } from '../../config/schema/schema.ts'
import { Fault, Invalid } from '../../errors.ts'
import { readTrust } from '../../stores/keys/trusted-keys.ts'
import { createPrepare } from '../../stores/policies/prepare-offer.ts'
import { createPublishedPolicies } from '../../stores/policies/published-policies.ts'
import { createTrustGate } from '../../stores/policies/trust-gate.ts'
import { withRedis } from '../configured-redis.ts'
import { count } from '../format.ts'
import { withInteractiveTimeouts } from '../settings.ts'
import { type Finding, ok, problem } from './finding.ts'

const name = 'policy'
const publish = 'publish with "postern policy push"'

/** Whether a gateway would use the policy that is published in Redis. */
export async function checkPublished(
  { policy, redis }: Config,
  cwd: string,
): Promise<readonly Finding[]> {
  const settings = withInteractiveTimeouts({ ...redis, url: redis.url ?? '' })
  try {
    const gate = policy.trust && createTrustGate(readTrust(policy.trust, cwd), 'live')
    return await withRedis(settings, undefined, async (client) => {
      const source = createPublishedPolicies(client, settings, { snapshot: false, gate })
      const offer = await source.read(undefined)
      if (offer === undefined) return []
      const { signal } = new AbortController()
      const { revision, ruleCount } = await createPrepare(signal, policy.domain)(offer)
      const by = offer.author === undefined ? '' : `, published by ${offer.author}`
      return [ok(name, `${count(ruleCount, 'rule')}, revision ${revision}${by}`)]
    })
  } catch (error) {
    if (!(error instanceof Fault) && !(error instanceof Invalid)) throw error
    // The checks of Redis and of the trusted keys report these.
    if (error instanceof Fault && error.part === 'redis') return []
    if (
      error instanceof Invalid &&
      error.problems.some(({ file }) => file.startsWith('policy.trust'))
    ) {
      return []
    }
    const message = error.message.replace(`: ${publish}`, '')
    return [problem(name, message, fixOf(message))]
  }
}

function fixOf(message: string): string {
  if (/rejected/.test(message)) {
    return 'publish a policy that the keys of policy.trust have signed (docs/policy-trust.md)'
  }
  return publish
}
