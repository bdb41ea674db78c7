import type { ReplicaFacts } from '../../src/fleet/replica-facts.ts'
import { createLivePolicies } from '../../src/policy/live.ts'
import { openPolicySource } from '../../src/stores/policies/open-policy-source.ts'

/*
 * A process with replicas, as far as a console can see them: each follows the policy and reports itself
 * with the code of a gateway. They have no ports and no requests. Sends a message when all have reported.
 */
const [url = '', prefix = '', count = '0'] = process.argv.slice(2)
const silent = { info() {}, warn() {} }
const startedAt = new Date().toISOString()

function factsOf(number: number): ReplicaFacts {
  return {
    startedAt,
    mode: 'prod',
    ready: true,
    configuration: { revision: 'c-bench', since: startedAt, rejected: false },
    keys: { signer: 'key-1', ids: ['key-1', 'key-2'], count: 2, since: startedAt, rejected: false },
    certificate: {
      names: `gateway-${number}.example.com`,
      notAfter: '2027-01-31T00:00:00.000Z',
      rejected: false,
    },
    upstreams: {
      targets: 4,
      out: 1,
      named: [{ upstream: 'app', target: '10.0.0.1:8080', state: 'ejected' }],
    },
    outcomes: { forwarded: 1000 + number, denied: 10 },
  }
}

for (let number = 0; number < Number(count); number++) {
  await openPolicySource({
    policy: { source: 'redis', directory: '', pollSeconds: 3, replicaMemory: 86_400 },
    redis: { url, prefix, connectTimeoutMs: 30_000, commandTimeoutMs: 30_000 },
    live: createLivePolicies(),
    log: silent,
    version: 'bench',
    facts: () => factsOf(number),
  })
}
process.send?.('ready')
// Its parent may end without a word.
process.on('disconnect', () => process.exit())
