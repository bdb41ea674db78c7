import { Refusal } from '../kernel/errors.ts'
import type { VerifiedToken } from '../token/tokens.ts'
import type { Fields } from './fields.ts'
import type { PasswordHash } from './password-hash.ts'
import { maxPasswordBytes } from './passwords/password-length.ts'
import { brokenPasswordRule } from './passwords/password-rules.ts'
import type { Throttle } from './throttle.ts'

interface PasswordAttempt {
  /** Throws a Refusal when the body has no fields. */
  readonly fields: () => Fields
  readonly token: VerifiedToken | undefined
  readonly address: string
  /** Whether a page of another site made the browser send it. */
  readonly foreign: boolean
}

/** The account of the caller, as it is now. */
export interface OwnAccount {
  readonly userId: string
  readonly username: string
  readonly passwordHash: string
  /** Whether it has one here: that of a person of another system may be there only. */
  readonly hasPassword: boolean
  readonly enabled: boolean
}

/** Replaces the password of an account, unless another change came first. */
export interface PasswordChange {
  readonly account: OwnAccount
  readonly newHash: string
  /** The address of the client, for the audit log. */
  readonly origin: string
}

interface ChangePasswordParts {
  readonly throttle: Throttle
  /** Whether passwords of accounts log in at all. */
  readonly local: boolean
  readonly findAccount: (userId: string) => Promise<OwnAccount | undefined>
  readonly passwordHash: Pick<PasswordHash, 'verify' | 'hash'>
  /** Whether it was replaced. Records the change in the same transaction. */
  readonly replacePassword: (change: PasswordChange) => Promise<boolean>
  /** Revokes every token of the user but this one. Does not throw: the password is changed. */
  readonly revokeOthers: (token: VerifiedToken) => Promise<'everywhere' | 'here'>
}

/**
 * A user changes their own password: bind, rules, old password, store, revoke the other tokens. Guesses
 * of the old password count as those of a login, so that a stolen token is not a second way to guess.
 * Returns where the other tokens are revoked.
 */
export function createChangePassword(parts: ChangePasswordParts) {
  return async function changePassword(attempt: PasswordAttempt): Promise<'everywhere' | 'here'> {
    const { token, address, foreign } = attempt
    const { throttle, passwordHash } = parts

    await throttle.address({ address, foreign })
    const fields = attempt.fields()
    const oldPassword = fields.text('oldPassword', maxPasswordBytes)
    // The rules say more about an unsuitable text than that the request is malformed.
    const newPassword = fields.string('newPassword')

    if (token?.kind !== 'user' || !parts.local) throw new Refusal('no-password')
    const account = await parts.findAccount(token.caller.userId)
    // The account was deleted after the token was issued.
    if (account === undefined) throw new Refusal('token-revoked', { reason: 'no such user' })
    if (!account.hasPassword) throw new Refusal('no-password')

    // Before the old password: what cannot be stored costs no attempt and no hashing.
    const { username } = account
    const brokenRule = brokenPasswordRule(newPassword, { username, oldPassword })
    if (brokenRule !== undefined) throw new Refusal(brokenRule)

    const guess = await throttle.password(username, address)
    const isRight = await passwordHash
      .verify(oldPassword, account.passwordHash, account.enabled)
      .catch(async (error: unknown) => {
        await guess.notChecked()
        throw error
      })
    if (!isRight) throw new Refusal('wrong-password')
    await guess.succeeded()

    const newHash = await passwordHash.hash(newPassword)
    const change = { account, newHash, origin: address }
    const isReplaced = await parts.replacePassword(change).catch(async (error: unknown) => {
      if (await isStored(change)) return true
      throw error
    })
    if (!isReplaced) throw new Refusal('wrong-password', { reason: 'account changed meanwhile' })
    return parts.revokeOthers(token)
  }

  /** A connection can break after the commit: the other tokens must not outlive the old password. */
  async function isStored({ account, newHash }: PasswordChange): Promise<boolean> {
    const now = await parts.findAccount(account.userId).catch(() => undefined)
    return now?.passwordHash === newHash
  }
}

export type ChangePassword = ReturnType<typeof createChangePassword>
