import type { RunOf } from '../operation.ts'
import { policySettings } from '../policy-settings.ts'
import { changedAccounts } from './changed-accounts.ts'
import type { policyDiff } from './check-descriptions.ts'
import { compareAccess, diffDocument } from './compare-access.ts'
import { reportEngine } from './engine-cost.ts'
import { isPublished, readVersions } from './versions.ts'

/** The files of the new policy if a reviewer can open them. */
type Files = readonly string[]

/** Compares the access that two policies grant. */
export const run: RunOf<typeof policyDiff, Files> = async (input, context) => {
  const settings = policySettings(context.configFile, context)
  const { admission, note } = settings.admission()
  const names = { from: input.from ?? 'live', to: input.to ?? settings.directory }
  const { from, to } = await readVersions(names, settings, context)
  const diff = compareAccess({ from: from.set, to: to.set }, admission, context)
  const { changes, ...about } = diffDocument(diff)
  const named = input.accounts ? await changedAccounts(diff, settings, context) : undefined
  const notes = [note, named?.note].filter((each) => each !== undefined)
  const isWider = input['this-gateway'] ? diff.widenedHere : diff.widened
  return {
    document: {
      ...{ ...about, engine: reportEngine(to.set, context), notes, changes },
      ...(named?.accounts !== undefined && { accounts: named.accounts }),
    },
    outcome: isWider ? 'no' : 'done',
    shown: isPublished(to.name) ? [] : to.files.map(({ name }) => name),
  }
}
