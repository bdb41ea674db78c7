import { keyName } from '../../login/second-factor/sealed-secret.ts'
import { maxFailures } from '../../login/second-factor/second-factor.ts'
import type { EnrolledAccount } from '../../stores/second-factor/enrollment-directory.ts'
import { count } from '../format.ts'

/** The one-time codes of an account, for one line of `user show`. */
export function codesInWords(enrolled: EnrolledAccount | undefined, isNeeded: boolean): string {
  if (enrolled === undefined) {
    return isNeeded ? 'no, and the role needs them: login refuses this account' : 'no'
  }
  const { enrolledAt, keyId, recoveryCodesLeft, failures } = enrolled
  const since = `since ${enrolledAt ?? 'unknown'}, encrypted with ${keyName(keyId)}`
  const left = `${count(recoveryCodesLeft, 'recovery code')} left`
  const off = failures >= maxFailures ? `; off after ${maxFailures} wrong codes` : ''
  return `${since}, ${left}${off}`
}

/** The same for JSON, without the secret. */
export function codesAsJson(enrolled: EnrolledAccount | undefined) {
  if (enrolled === undefined) return null
  const { enrolledAt, keyId, recoveryCodesLeft, failures } = enrolled
  return { enrolledAt, key: keyName(keyId), recoveryCodesLeft, failures }
}
