import { keyName, openSecret, sealSecret } from '../../login/second-factor/sealed-secret.ts'
import { withDatabase } from '../../operations/configured-database.ts'
import { tokenSettings } from '../../operations/tokens/configured-keys.ts'
import { reencryptSecret } from '../../stores/second-factor/enrollment-changes.ts'
import {
  type EnrolledAccount,
  enrolledAccounts,
} from '../../stores/second-factor/enrollment-directory.ts'
import { exitCodes } from '../exit-codes.ts'
import { count, json, printable } from '../format.ts'
import type { Io } from '../io.ts'
import { sealKeys, type TotpOptions } from './account.ts'

/** Encrypts every secret with the key that signs now, so that older keys can be deleted. */
export async function reencryptAll(options: TotpOptions, io: Io): Promise<number> {
  const settings = tokenSettings(options.config, io)
  const keys = await sealKeys(settings)
  const { id: keyId } = keys.current()
  const { done, lost } = await withDatabase(settings, async (database) => {
    const old = (await enrolledAccounts(database)).filter((each) => each.keyId !== keyId)
    const lost = old.filter((each) => keys.find(each.keyId) === undefined)
    let done = 0
    for (const account of old) {
      if (lost.includes(account)) continue
      const { userId } = account
      const renewed = sealSecret(keys, userId, openSecret(keys, userId, account))
      // A login that came first has done it.
      if (await reencryptSecret(database, userId, account, renewed)) done++
    }
    return { done, lost }
  })
  const key = keyName(keyId)
  io.err(`postern: encrypted the one-time codes of ${count(done, 'user')} with key ${key}\n`)
  for (const each of lost) io.err(`${printable(`postern: ${lostInWords(each)}`)}\n`)
  if (options.output === 'json') {
    const names = lost.map(({ username, keyId: old }) => ({ username, key: keyName(old) }))
    io.out(json({ done: 'reencrypt', key, users: done, keyNotLoaded: names }))
  }
  return lost.length === 0 ? 0 : exitCodes.no
}

function lostInWords({ username, keyId }: EnrolledAccount): string {
  return `user ${username}: key ${keyName(keyId)} is not loaded; restore it, or run "postern user totp ${username}"`
}
