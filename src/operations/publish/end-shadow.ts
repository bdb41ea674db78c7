import type { RunOf } from '../operation.ts'
import { policySettings, withPolicyStore } from '../policy-settings.ts'
import type { policyShadowEnd } from './descriptions.ts'
import { readShadow, refuseFiles } from './observed-shadow.ts'
import { shadowDocument } from './show-shadow.ts'

/** Ends the shadow. `shown`: one was there, and is not any more. */
export const run: RunOf<typeof policyShadowEnd, boolean> = (_, context) => {
  const settings = policySettings(context.configFile, context)
  refuseFiles(settings)
  return withPolicyStore(settings, async (store) => {
    const stored = await store.shadow.read()
    if (stored === undefined) return { document: { ended: null }, outcome: 'no' }
    const shadow = stored.head && (await readShadow(store))
    const shown = await store.shadow.end(stored)
    const ended = shown ? (stored.head?.revision ?? null) : null
    const document = { ended, ...(shadow && shadowDocument(shadow)) }
    const changed = 'the shadow was ended or replaced meanwhile: run "postern policy shadow"'
    return shown ? { document, shown } : { document, shown, notes: [changed], outcome: 'no' }
  })
}
