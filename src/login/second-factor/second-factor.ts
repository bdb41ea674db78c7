import { Refusal } from '../../kernel/errors.ts'
import type { Log } from '../../log/log.ts'
import type { Caller } from '../../token/caller.ts'
import type { DerivedKeys } from '../../token/derived-keys.ts'
import { recoveryDigest } from './recovery-codes.ts'
import { openSecret, type SealedSecret, sealSecret } from './sealed-secret.ts'
import { matchingStep } from './totp-codes.ts'

/** An account with one-time codes. */
export interface Enrollment extends SealedSecret {
  /** Wrong codes since the last right one. */
  readonly failures: number
}

/** A right code. It is used up only if the account still has the secret that it was checked with. */
interface Claim {
  readonly userId: string
  readonly checked: SealedSecret
  /** The secret, encrypted with the current key. */
  readonly renewed: SealedSecret
}

export interface StepClaim extends Claim {
  readonly step: number
}

export interface RecoveryClaim extends Claim {
  readonly username: string
  readonly digest: string
  /** The address of the client, for the audit log. */
  readonly origin: string
}

/** Claims are atomic, so that no code works twice, on any replica. */
export interface SecondFactorStore {
  find(userId: string): Promise<Enrollment | undefined>
  /** Whether this step is later than the last claimed one, and now claimed. */
  claimStep(claim: StepClaim): Promise<boolean>
  /** How many recovery codes are left; `undefined` if this is not one, or used. */
  claimRecoveryCode(claim: RecoveryClaim): Promise<number | undefined>
  countFailure(userId: string): Promise<void>
}

interface SecondFactorParts {
  readonly store: SecondFactorStore
  readonly keys: DerivedKeys
  /** Role keys whose accounts must have one-time codes. */
  readonly roles: readonly string[]
  /** Seconds since the epoch. */
  readonly now: () => number
  readonly log: Log
}

/**
 * The limits per address and account alone let an attacker with the password try for years. Strangers
 * cannot lock an owner out with it: a code is checked only after the right password.
 */
export const maxFailures = 100
const fewCodes = 3

/**
 * The second factor of a login, after right credentials. Throws `otp-not-enrolled` for a role that needs
 * one and an account without, `otp-needed` without a code, `wrong-otp` for a wrong or used one, and a
 * Fault when it cannot decide.
 */
export function createSecondFactor({ store, keys, roles, now, log }: SecondFactorParts) {
  const needed = new Set(roles)

  return async function checkSecondFactor(
    caller: Caller,
    otp: string | undefined,
    origin: string,
  ): Promise<void> {
    const { userId, roleKey } = caller
    const enrollment = await store.find(userId)
    if (enrollment === undefined) {
      if (needed.has(roleKey)) throw new Refusal('otp-not-enrolled')
      return
    }
    const code = otp?.replaceAll(/\s/g, '')
    if (!code) throw new Refusal('otp-needed')

    const secret = openSecret(keys, userId, enrollment)
    const renewed =
      keys.current().id === enrollment.keyId ? enrollment : sealSecret(keys, userId, secret)
    const claim = { userId, checked: enrollment, renewed }
    // Plain digits only: the library throws on others.
    if (/^[0-9]{6}$/.test(code)) {
      // As any wrong code for the client: only operators learn that guessing has ended.
      if (enrollment.failures >= maxFailures) throw tooManyFailures()
      const step = await matchingStep(secret, code, now() * 1000)
      if (step !== undefined && (await store.claimStep({ ...claim, step }))) return
    } else if (
      await isRecoveryCode(code, secret, { ...claim, username: caller.username, origin })
    ) {
      return
    }
    await store.countFailure(userId)
    throw new Refusal('wrong-otp')
  }

  async function isRecoveryCode(
    text: string,
    secret: Uint8Array,
    claim: Omit<RecoveryClaim, 'digest'>,
  ): Promise<boolean> {
    const digest = recoveryDigest(secret, text)
    if (digest === undefined) return false
    const left = await store.claimRecoveryCode({ ...claim, digest })
    if (left === undefined) return false
    const level = left <= fewCodes ? 'warn' : 'info'
    log[level]({ user: claim.username, left }, 'recovery code used instead of a one-time code')
    return true
  }
}

function tooManyFailures(): Refusal {
  const reason = `${maxFailures} wrong codes in a row: one-time codes are off until a recovery code is used or "postern user totp" is run`
  return new Refusal('wrong-otp', { reason })
}
