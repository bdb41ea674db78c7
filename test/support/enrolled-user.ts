import { randomUUID } from 'node:crypto'
import { inject } from 'vitest'
import { newRecoveryCodes } from '../../src/login/second-factor/recovery-codes.ts'
import { sealPurpose, sealSecret } from '../../src/login/second-factor/sealed-secret.ts'
import { newTotpSecret } from '../../src/login/second-factor/totp-codes.ts'
import { createAccountChanges } from '../../src/stores/accounts/account-changes.ts'
import { createAccounts } from '../../src/stores/accounts/accounts.ts'
import { openDatabase } from '../../src/stores/database/open-database.ts'
import { createEnrollmentChanges } from '../../src/stores/second-factor/enrollment-changes.ts'
import type { Caller } from '../../src/token/caller.ts'
import { createDerivedKeys } from '../../src/token/derived-keys.ts'
import { secretAlone } from '../../src/token/key-set.ts'
import { secretKey } from '../../src/token/keys.ts'
import { testSecret } from './tokens.ts'

export interface EnrolledUser {
  readonly caller: Caller
  readonly secret: Uint8Array
  readonly recoveryCodes: readonly string[]
}

const actor = { kind: 'operator', name: 'ada', origin: 'host-1' } as const

/** A new account of the shared database, with one-time codes unless told otherwise. */
export async function addEnrolledUser({ enroll = true, roleKey = 'editor' } = {}) {
  const database = await openDatabase({
    ...{ directory: inject('sharedData'), poolSize: 1 },
    ...{ connectTimeoutMs: 5000, statementTimeoutMs: 60_000 },
  })
  try {
    const username = `user-${randomUUID()}`
    await createAccountChanges(database, actor).add({ username, roleKey, passwordHash: 'h' })
    const account = await createAccounts(database, 60_000).findByUsername(username)
    if (account === undefined) throw new Error('no account')
    const { caller } = account
    const { userId } = caller
    const secret = newTotpSecret()
    const codes = newRecoveryCodes(secret)
    const keys = secretAlone(await secretKey(testSecret))
    const sealed = sealSecret(
      createDerivedKeys(() => keys, sealPurpose),
      userId,
      secret,
    )
    if (enroll) {
      await createEnrollmentChanges(database, actor).enroll({
        ...{ username, userId, secret: sealed, lastStep: 0 },
        recoveryDigests: codes.map(({ digest }) => digest),
      })
    }
    return { caller, secret, recoveryCodes: codes.map(({ code }) => code) }
  } finally {
    await database.close()
  }
}
