import { accountSettings, withDatabase } from '../../operations/configured-database.ts'
import { createEnrollmentChanges } from '../../stores/second-factor/enrollment-changes.ts'
import { json, printable } from '../format.ts'
import type { Io } from '../io.ts'
import { operator } from '../operator.ts'
import { declined, meantAccount, type TotpOptions } from './account.ts'

/** Removes the one-time codes of an account, for example after its phone was lost. Needs no key. */
export async function removeEnrollment(
  name: string,
  options: TotpOptions,
  io: Io,
): Promise<number> {
  const settings = accountSettings(options.config, io)
  const { username, userId, roleKey } = await withDatabase(settings, async (database) => {
    const meant = await meantAccount(name, database)
    const result = await createEnrollmentChanges(database, operator(io)).remove(meant)
    return result === 'done' ? meant : declined(result, meant.username)
  })
  const isNeeded = settings.config.login.secondFactor.roles.includes(roleKey)
  const next = isNeeded
    ? `; role ${roleKey} needs them, so login refuses the user until "postern user totp ${username}"`
    : ': the password alone is enough to log in'
  io.err(`${printable(`postern: removed the one-time codes of user ${username}${next}`)}\n`)
  if (options.output === 'json') io.out(json({ done: 'remove', username, userId }))
  return 0
}
