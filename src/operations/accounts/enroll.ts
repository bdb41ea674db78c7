import { newRecoveryCodes } from '../../login/second-factor/recovery-codes.ts'
import { sealSecret } from '../../login/second-factor/sealed-secret.ts'
import {
  matchingStep,
  newTotpSecret,
  totpInvitation,
} from '../../login/second-factor/totp-codes.ts'
import { createEnrollmentChanges } from '../../stores/second-factor/enrollment-changes.ts'
import { withDatabase } from '../configured-database.ts'
import type { Context } from '../context.ts'
import { decline } from '../declined.ts'
import { tokenSettings } from '../tokens/configured-keys.ts'
import { answerRevoked, tokensOf } from '../tokens/revoke-tokens.ts'
import { declined, meantAccount, sealKeys } from './enrolled-account.ts'

/** What the person at the terminal types is checked with it, before anything is stored. */
export interface Confirming {
  /** What is wrong with a code from the app; `undefined`: it is right. */
  readonly problemOf: (code: string) => Promise<string | undefined>
}

/** Makes a secret, which `commit` stores: after a right code, unless none is needed. */
export async function reviewEnrollment(name: string, needsCode: boolean, context: Context) {
  const settings = tokenSettings(context.configFile, context)
  // Before anything is shown: without the keys the secret could not be stored.
  const keys = await sealKeys(settings)
  keys.current()
  // Closed before asking: an open connection could block others while a person thinks.
  const { username, userId, enrolled } = await withDatabase(settings, (database) =>
    meantAccount(name, database),
  )
  const { issuer } = settings.config.login.secondFactor
  const secret = newTotpSecret()
  const { uri, text } = await totpInvitation(secret, { issuer, username })
  let lastStep = needsCode ? undefined : 0

  async function problemOf(typed: string): Promise<string | undefined> {
    const code = typed.replaceAll(/\s/g, '')
    if (!/^[0-9]{6}$/.test(code)) return 'not a code: type the six digits'
    lastStep = await matchingStep(secret, code, context.now())
    return lastStep === undefined ? 'wrong code: wait for the next one' : undefined
  }

  async function commit() {
    const step =
      lastStep ??
      decline(
        `user ${username} is not enrolled: no right code. Check the clocks of this machine and of the phone, and scan the new QR code of the next try`,
      )
    const recovery = newRecoveryCodes(secret)
    return withDatabase(settings, async (database) => {
      const result = await createEnrollmentChanges(database, context.actor).enroll({
        ...{ username, userId, lastStep: step },
        secret: sealSecret(keys, userId, secret),
        recoveryDigests: recovery.map(({ digest }) => digest),
      })
      if (result !== 'done') return declined(result, username)
      // Tokens of logins with the password alone end, so that every live token had a second factor.
      const message = `user ${username} now logs in with one-time codes`
      const stale = tokensOf(username, [userId], message)
      const parts = { config: settings.config, database }
      const recoveryCodes = recovery.map(({ code }) => code)
      const done = { done: 'enroll', username, userId }
      const shown = { issuer, secret: text.replaceAll(' ', ''), uri, recoveryCodes }
      return answerRevoked(stale, parts, done, shown)
    })
  }

  const plan = { username, replaces: enrolled !== undefined, uri, secret: text }
  return { document: plan, shown: { problemOf }, commit }
}
