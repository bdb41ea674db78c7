import type { RunOf } from '../operation.ts'
import { policySettings, unavailable, withPolicyStore } from '../policy-settings.ts'
import type { policyProposalDrop } from './descriptions.ts'
import { checkRevision } from './publishing.ts'

/** Drops also what cannot be read: it may be damaged. */
export const run: RunOf<typeof policyProposalDrop> = ({ drop: name = '' }, context) => {
  const settings = policySettings(context.configFile, context)
  settings.trust()
  return withPolicyStore(settings, async ({ proposals }) => {
    checkRevision(name)
    const [only, ...others] = await proposals.matching(name)
    const dropped = others.length === 0 ? (only?.revision ?? name) : name
    if (await proposals.drop(dropped)) return { document: { dropped } }
    return unavailable(`proposal ${name} does not exist: "postern policy proposals" lists all`)
  })
}
