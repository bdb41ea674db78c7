import type { Config } from '../../config/schema/schema.ts'
import { Fault, Invalid } from '../../kernel/errors.ts'
import { withRedis } from '../../operations/configured-redis.ts'
import { type Review, reviewDirectory } from '../../operations/policy/review.ts'
import { readSurroundings } from '../../operations/policy/surroundings.ts'
import { policySettings, withInteractiveTimeouts } from '../../operations/policy-settings.ts'
import { checkPolicySet, type Surroundings } from '../../policy/checks/check.ts'
import { type PolicyFile, parsePolicySet } from '../../policy/set/policy-set.ts'
import { readTrust } from '../../stores/keys/trusted-keys.ts'
import { createPrepare } from '../../stores/policies/prepare-offer.ts'
import { createPublishedPolicies } from '../../stores/policies/published-policies.ts'
import { createTrustGate } from '../../stores/policies/trust-gate.ts'
import { count } from '../format.ts'
import type { Io } from '../io.ts'
import { countByCode } from '../policy/findings.ts'
import { type Finding, ok, problem, warning } from './finding.ts'

const name = 'policy'
const publish = 'publish with "postern policy push"'

/** What "postern policy check" says about the directory of the configuration. */
export async function checkDirectory(
  file: string | undefined,
  io: Io,
): Promise<readonly Finding[]> {
  const settings = policySettings(file, io)
  const { progress: _, ...quiet } = io
  const lookAround = () => readSurroundings(settings, { config: file }, quiet)
  try {
    const { warnings } = await reviewDirectory(settings.directory, quiet, lookAround)
    return warningsIn(warnings, '"postern policy check" shows each of them')
  } catch (error) {
    // The check of policy.directory reports it.
    if (error instanceof Invalid) return []
    throw error
  }
}

function warningsIn(warnings: Review['warnings'], fix: string): readonly Finding[] {
  if (warnings.length === 0) return []
  const codes = countByCode(warnings).map(([code, number]) => `${number} ${code}`)
  return [warning(name, `${count(warnings.length, 'warning')}: ${codes.join(', ')}`, fix)]
}

/** Whether a gateway would use the policy that is published in Redis. */
export async function checkPublished(
  { policy, redis }: Config,
  file: string | undefined,
  io: Io,
): Promise<readonly Finding[]> {
  const settings = withInteractiveTimeouts({ ...redis, url: redis.url ?? '' })
  try {
    const gate = policy.trust && createTrustGate(readTrust(policy.trust, io.cwd), 'live')
    return await withRedis(settings, undefined, async (client) => {
      const source = createPublishedPolicies(client, settings, { snapshot: false, gate })
      const offer = await source.read(undefined)
      if (offer === undefined) return []
      const { signal } = new AbortController()
      const { revision, ruleCount } = await createPrepare(signal, policy.domain)(offer)
      const by = offer.author === undefined ? '' : `, published by ${offer.author}`
      const around = await readSurroundings(policySettings(file, io), { config: file }, io)
      const found = 'loading' in offer ? [] : warningsOf(offer.files, around)
      return [
        ok(name, `${count(ruleCount, 'rule')}, revision ${revision}${by}`),
        ...warningsIn(
          found,
          '"postern policy check" in the published directory shows each of them',
        ),
      ]
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

function warningsOf(files: readonly PolicyFile[], around: Surroundings): Review['warnings'] {
  return checkPolicySet(parsePolicySet(files), files, around)
}

function fixOf(message: string): string {
  if (/rejected/.test(message)) {
    return 'publish a policy that the keys of policy.trust have signed (docs/policy-trust.md)'
  }
  return publish
}
