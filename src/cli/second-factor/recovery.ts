import { newRecoveryCodes } from '../../login/second-factor/recovery-codes.ts'
import { openSecret } from '../../login/second-factor/sealed-secret.ts'
import { withDatabase } from '../../operations/configured-database.ts'
import { tokenSettings } from '../../operations/tokens/configured-keys.ts'
import { createEnrollmentChanges } from '../../stores/second-factor/enrollment-changes.ts'
import { json, printable } from '../format.ts'
import type { Io } from '../io.ts'
import { operator } from '../operator.ts'
import { declined, meantAccount, sealKeys, type TotpOptions } from './account.ts'

/** Prints ten new recovery codes, which replace the old ones. */
export async function newCodes(name: string, options: TotpOptions, io: Io): Promise<number> {
  const settings = tokenSettings(options.config, io)
  const keys = await sealKeys(settings)
  const { username, userId, codes } = await withDatabase(settings, async (database) => {
    const { username, userId, enrolled: secret } = await meantAccount(name, database)
    if (secret === undefined) return declined('not-enrolled', username)
    const codes = newRecoveryCodes(openSecret(keys, userId, secret))
    const recoveryDigests = codes.map(({ digest }) => digest)
    const changes = createEnrollmentChanges(database, operator(io))
    const wanted = { username, userId, secret, recoveryDigests }
    const result = await changes.replaceRecoveryCodes(wanted)
    if (result !== 'done') return declined(result, username)
    return { username, userId, codes: codes.map(({ code }) => code) }
  })
  io.err(`${printable(`postern: replaced the recovery codes of user ${username}`)}\n`)
  const done = { done: 'recovery-codes', username, userId, recoveryCodes: codes }
  io.out(options.output === 'json' ? json(done) : recoveryText(username, codes))
  return 0
}

export function recoveryText(username: string, codes: readonly string[]): string {
  const about = `Recovery codes of ${printable(username)}, shown once. Each works once in place of a one-time code:`
  return `${about}\n\n${codes.map((code) => `  ${code}\n`).join('')}`
}
