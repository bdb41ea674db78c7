import type { RunOf } from '../operation.ts'
import { policySettings, withPolicyStore } from '../policy-settings.ts'
import type { policyShadow, ShadowDocument } from './descriptions.ts'
import { type ObservedShadow, readShadow, refuseFiles } from './observed-shadow.ts'

/** Says what the shadow would change. `shown` is the shadow, where one runs. */
export const run: RunOf<typeof policyShadow, ObservedShadow> = (_, context) => {
  const settings = policySettings(context.configFile, context)
  refuseFiles(settings)
  return withPolicyStore(settings, async (store) => {
    const shadow = await readShadow(store)
    if (shadow === undefined) return { document: { shadow: null }, outcome: 'no' }
    return { document: shadowDocument(shadow), shown: shadow }
  })
}

export function shadowDocument({ head, at, live, evidence }: ObservedShadow): ShadowDocument {
  const { revision, author, message } = head
  return { shadow: { revision, author, message, at }, live: live ?? null, ...evidence }
}
