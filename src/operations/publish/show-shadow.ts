import type { RunOf } from '../operation.ts'
import { policySettings, withPolicyStore } from '../policy-settings.ts'
import type { policyShadow, policyShadowEnd, ShadowDocument } from './descriptions.ts'
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

function shadowDocument({ head, at, live, evidence }: ObservedShadow): ShadowDocument {
  const { revision, author, message } = head
  return { shadow: { revision, author, message, at }, live: live ?? null, ...evidence }
}

/** Ends the shadow. `shown`: one was there, and is not any more. */
export const end: RunOf<typeof policyShadowEnd, boolean> = (_, context) => {
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
