import type { Run } from '../command.ts'
import { exitCodes } from '../exit-codes.ts'
import { json } from '../format.ts'
import { policySettings } from '../settings.ts'
import { compareAccess, formatAccess } from './access.ts'
import type { diffSpec } from './specs.ts'
import { readVersion } from './versions.ts'

/** Compares the access that two policies grant. */
export const policyDiff: Run<typeof diffSpec> = async (call, io) => {
  const {
    options,
    arguments: [from = 'live', to],
  } = call
  const settings = policySettings(options.config, io)
  const before = await readVersion(from, settings, io)
  const after = await readVersion(to ?? settings.directory, settings, io)

  const diff = compareAccess(before.set, after.set, io)

  io.out(options.output === 'json' ? json(diff) : formatAccess(diff))
  return diff.widened ? exitCodes.no : exitCodes.done
}
