import { Refusal } from '../errors.ts'
import type { Caller } from '../token/caller.ts'
import type { IssuedToken } from '../token/sign-token.ts'
import type { VerifyCredentials } from './credentials.ts'
import type { JsonBody } from './json-fields.ts'
import type { RecordAttempt } from './login-log.ts'
import { attemptedName, bindLoginRequest, type LoginRequest } from './login-request.ts'
import type { Throttle } from './throttle.ts'

interface LoginAttempt {
  readonly body: JsonBody
  readonly address: string
  readonly userAgent: string
  /** Whether a page of another site made the browser send it. */
  readonly foreign: boolean
}

/** Sees each token that a login issues. Must not throw, and nothing waits for it. */
export type OnIssued = (
  issued: IssuedToken,
  caller: Caller,
  attempt: Pick<LoginAttempt, 'address' | 'userAgent'>,
) => void

interface LoginParts {
  readonly throttle: Throttle
  /** Whether the captcha was solved; always true in modes without captcha. */
  readonly checkCaptcha: (request: LoginRequest) => Promise<boolean>
  readonly verifyCredentials: VerifyCredentials
  /** `readAt`: when the account was read, by `now`. */
  readonly issueToken: (caller: Caller, readAt: number) => Promise<IssuedToken>
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
      const issued = await pass(attempt)
      parts.record(attempt, attemptedName(attempt.body), 'logged-in')
      return issued
    } catch (error) {
      const outcome = error instanceof Refusal ? error.kind : 'unavailable'
      parts.record(attempt, attemptedName(attempt.body), outcome)
      throw error
    }
  }

  async function pass(attempt: LoginAttempt): Promise<IssuedToken> {
    const { body, address, foreign } = attempt
    const { throttle, checkCaptcha, verifyCredentials, issueToken } = parts

    await throttle.address({ address, foreign })
    const request = bindLoginRequest(body)

    if (!(await checkCaptcha(request))) throw new Refusal('wrong-captcha')

    const guess = await throttle.password(request.username, address)
    const readAt = parts.now()
    const caller = await verifyCredentials(request).catch(async (error: unknown) => {
      await guess.notChecked()
      throw error
    })
    if (caller === undefined) throw new Refusal('wrong-credentials')
    await guess.succeeded()

    const issued = await issueToken(caller, readAt)
    parts.onIssued(issued, caller, attempt)
    return issued
  }
}

export type Login = ReturnType<typeof createLogin>
