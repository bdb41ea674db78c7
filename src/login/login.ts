import { Refusal } from '../kernel/errors.ts'
import type { Caller } from '../token/caller.ts'
import type { CarriedClaims } from '../token/carried-claims.ts'
import type { IssuedToken } from '../token/sign-token.ts'
import type { Fields } from './fields.ts'
import type { LoginAttempt } from './login-attempt.ts'
import type { RecordAttempt } from './login-log.ts'
import type { FindLoginMethod, Verified } from './login-method.ts'
import type { PasswordAttempt, Throttle } from './throttle.ts'

/** Sees each token that a login issues. Must not throw, and nothing waits for it. */
export type OnIssued = (
  issued: IssuedToken,
  verified: Verified,
  attempt: Pick<LoginAttempt, 'address' | 'userAgent'>,
) => void

export interface LoginParts {
  readonly throttle: Throttle
  readonly findMethod: FindLoginMethod
  /** Whether the user solved the captcha with this ID; absent in modes without captcha. */
  readonly checkCaptcha?: ((id: string, typed: string) => Promise<boolean>) | undefined
  /** Throws a Refusal unless the account needs no one-time code, or this is its code. */
  readonly checkSecondFactor: (
    caller: Caller,
    otp: string | undefined,
    address: string,
  ) => Promise<void>
  /** `readAt`: when the account was read, by `now`. */
  readonly issueToken: (
    caller: Caller,
    readAt: number,
    claims?: CarriedClaims,
  ) => Promise<IssuedToken>
  readonly now: () => number
  readonly record: RecordAttempt
  readonly onIssued: OnIssued
}

/**
 * The only way to a token, in the order of the specification: bind, captcha, credentials, token. Every
 * attempt is recorded, and recording never delays it.
 */
export function createLogin(parts: LoginParts) {
  return async function login(attempt: LoginAttempt): Promise<IssuedToken> {
    try {
      const { issued, username } = await pass(attempt)
      parts.record(attempt, username, 'logged-in')
      return issued
    } catch (error) {
      const outcome = error instanceof Refusal ? error.kind : 'unavailable'
      parts.record(attempt, attemptedName(attempt.fields, parts.findMethod), outcome)
      throw error
    }
  }

  async function pass(attempt: LoginAttempt) {
    const { address, foreign } = attempt
    const { throttle, checkCaptcha } = parts

    await throttle.address({ address, foreign })
    const fields = attempt.fields()
    const method = parts.findMethod(fields.optionalText('provider', 64))
    if (method === undefined) throw new Refusal('no-such-provider')
    const credentials = method.bind(fields, attempt)
    const otp = method.secondFactor ? fields.optionalText('otp', 64) : undefined

    if (method.captcha) {
      // In modes without captcha its fields are needed too, so that clients do not differ by mode.
      const answer = [fields.text('uuid', 128), fields.text('code', 32)] as const
      if (!((await checkCaptcha?.(...answer)) ?? true)) throw new Refusal('wrong-captcha')
    }

    const { name } = credentials
    const guess = name === undefined ? noGuess : await throttle.password(name, address)
    const startedAt = parts.now()
    const verified = await credentials.verify().catch(unlessGuessed(guess))
    if (verified === undefined) throw new Refusal('wrong-credentials')
    const { caller, readAt = startedAt, claims } = verified
    if (method.secondFactor) {
      await parts.checkSecondFactor(caller, otp, address).catch(unlessGuessed(guess))
    }
    await guess.succeeded()

    const issued = await parts.issueToken(caller, readAt, claims)
    parts.onIssued(issued, verified, attempt)
    return { issued, username: caller.username }
  }
}

export type Login = ReturnType<typeof createLogin>

/** The attempted name, for the record of an attempt, also of one that failed validation. */
function attemptedName(read: () => Fields, findMethod: FindLoginMethod): string {
  try {
    const fields = read()
    const { nameField = 'username' } = findMethod(fields.optionalText('provider', 64)) ?? {}
    const name = fields.get(nameField)
    return typeof name === 'string' ? name.slice(0, 128) : ''
  } catch {
    return ''
  }
}

/** For credentials that guessing does not find, such as a code of an identity provider. */
const noGuess: PasswordAttempt = { succeeded: async () => {}, notChecked: async () => {} }

/** A wrong one-time code counts as a wrong password. Any other failure says nothing about a guess. */
function unlessGuessed(guess: PasswordAttempt) {
  return async (error: unknown): Promise<never> => {
    const isWrong = error instanceof Refusal && error.kind === 'wrong-otp'
    if (!isWrong) await guess.notChecked()
    throw error
  }
}
