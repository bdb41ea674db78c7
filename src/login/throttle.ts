import { Refusal } from '../errors.ts'

export interface Limit {
  readonly points: number
  readonly seconds: number
}

/** Counts under a key; says whether this hit was still within the limit. */
export interface Counters {
  hit(key: string, limit: Limit): Promise<{ allowed: boolean; retryAfterSeconds: number }>
  reset(key: string): Promise<void>
  /** Takes one hit back. */
  takeBack(key: string, limit: Limit): Promise<void>
}

export interface ThrottleLimits {
  readonly perAddressPerMinute: number
  readonly perAccountFailuresPerMinute: number
  readonly captchaPerAddressPerMinute: number
}

/**
 * Bounds guessing: by address before anything is looked at, by account before a password is
 * hashed. An account's count starts anew with a right password.
 */
export function createThrottle(counters: Counters, limits: ThrottleLimits) {
  const perAccount = { points: limits.perAccountFailuresPerMinute, seconds: 60 }

  async function count(key: string, limit: Limit): Promise<void> {
    const { allowed, retryAfterSeconds } = await counters.hit(key, limit)
    if (!allowed) throw new Refusal('too-many-requests', { retryAfterSeconds })
  }

  return {
    address: (address: string) =>
      count(`login:address:${address}`, { points: limits.perAddressPerMinute, seconds: 60 }),
    account: (username: string) => count(accountKey(username), perAccount),
    accountSucceeded: (username: string) => counters.reset(accountKey(username)),
    /** The password was not checked, so it was not wrong. */
    accountNotAsked: (username: string) => counters.takeBack(accountKey(username), perAccount),
    captcha: (address: string) =>
      count(`captcha:${address}`, { points: limits.captchaPerAddressPerMinute, seconds: 60 }),
  }
}

/** Spellings that a database can take for one name share one count. */
function accountKey(username: string): string {
  return `login:account:${username.normalize('NFKC').trimEnd().toLowerCase()}`
}

export type Throttle = ReturnType<typeof createThrottle>
