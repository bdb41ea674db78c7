import { Refusal } from '../errors.ts'

export interface Limit {
  readonly points: number
  readonly seconds: number
}

/** Counts under a key; says whether this hit was still within the limit. */
export interface Counters {
  hit(key: string, limit: Limit): Promise<{ allowed: boolean; retryAfterSeconds: number }>
  reset(key: string): Promise<void>
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
  async function count(key: string, perMinute: number): Promise<void> {
    const { allowed, retryAfterSeconds } = await counters.hit(key, {
      points: perMinute,
      seconds: 60,
    })
    if (!allowed) throw new Refusal('too-many-requests', { retryAfterSeconds })
  }

  return {
    address: (address: string) => count(`login:address:${address}`, limits.perAddressPerMinute),
    account: (username: string) =>
      count(`login:account:${username}`, limits.perAccountFailuresPerMinute),
    accountSucceeded: (username: string) => counters.reset(`login:account:${username}`),
    captcha: (address: string) => count(`captcha:${address}`, limits.captchaPerAddressPerMinute),
  }
}

export type Throttle = ReturnType<typeof createThrottle>
