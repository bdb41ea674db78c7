import type { Config } from '../../config/schema/schema.ts'
import { count } from '../../kernel/count.ts'
import { Fault, Invalid } from '../../kernel/errors.ts'
import { checkPolicySet } from '../../policy/checks/check.ts'
import { parsePolicySet } from '../../policy/set/policy-set.ts'
import { readTrust } from '../../stores/keys/trusted-keys.ts'
import { createPrepare } from '../../stores/policies/prepare-offer.ts'
import { createPublishedPolicies } from '../../stores/policies/published-policies.ts'
import { createTrustGate } from '../../stores/policies/trust-gate.ts'
import { withRedis } from '../configured-redis.ts'
import type { Context } from '../context.ts'
import { type Review, reviewDirectory } from '../policy/review.ts'
import { readSurroundings } from '../policy/surroundings.ts'
import { policySettings, withInteractiveTimeouts } from '../policy-settings.ts'
import type { Report } from './run-checks.ts'

const publish = 'publish with "postern policy push"'

/** What "postern policy check" says about the directory of the configuration. */
export async function checkDirectory(report: Report, context: Context): Promise<void> {
  const config = context.configFile
  const settings = policySettings(config, context)
  const { progress: _, ...quiet } = context
  const lookAround = () => readSurroundings(settings, { config }, quiet)
  try {
    const { warnings } = await reviewDirectory(settings.directory, quiet, lookAround)
    reportWarnings(report, warnings, '"postern policy check" shows each of them')
  } catch (error) {
    // The check of policy.directory reports it.
    if (!(error instanceof Invalid)) throw error
  }
}

function reportWarnings({ warning }: Report, warnings: Review['warnings'], fix: string): void {
  if (warnings.length === 0) return
  const codes = [...Map.groupBy(warnings, ({ code }) => code)]
    .toSorted(([, one], [, other]) => other.length - one.length)
    .map(([code, some]) => `${some.length} ${code}`)
  warning(`${count(warnings.length, 'warning')}: ${codes.join(', ')}`, fix)
}

/** Whether a gateway would use the policy that is published in Redis. */
export async function checkPublished(
  report: Report,
  { policy, redis }: Config,
  context: Context,
): Promise<void> {
  const config = context.configFile
  const settings = withInteractiveTimeouts({ ...redis, url: redis.url ?? '' })
  try {
    const gate = policy.trust && createTrustGate(readTrust(policy.trust, context.cwd), 'live')
    await withRedis(settings, undefined, async (client) => {
      const source = createPublishedPolicies(client, settings, { snapshot: false, gate })
      const offer = await source.read(undefined)
      if (offer === undefined) return
      const { signal } = new AbortController()
      const { revision, ruleCount } = await createPrepare(signal, policy.domain)(offer)
      const by = offer.author === undefined ? '' : `, published by ${offer.author}`
      const around = await readSurroundings(policySettings(config, context), { config }, context)
      report.ok(`${count(ruleCount, 'rule')}, revision ${revision}${by}`)
      if ('loading' in offer) return
      const found = checkPolicySet(parsePolicySet(offer.files), offer.files, around)
      const fix = '"postern policy check" in the published directory shows each of them'
      reportWarnings(report, found, fix)
    })
  } catch (error) {
    if (!(error instanceof Fault) && !(error instanceof Invalid)) throw error
    // The checks of Redis and of the trusted keys report these.
    if (error instanceof Fault && error.part === 'redis') return
    const isTrust = ({ file }: { readonly file: string }) => file.startsWith('policy.trust')
    if (error instanceof Invalid && error.problems.some(isTrust)) return
    const message = error.message.replace(`: ${publish}`, '')
    report.problem(message, fixOf(message))
  }
}

function fixOf(message: string): string {
  if (/rejected/.test(message)) {
    return 'publish a policy that the keys of policy.trust have signed (docs/policy-trust.md#what-a-gateway-refuses)'
  }
  return publish
}
