import { createHmac } from 'node:crypto'
import { Refusal } from '../kernel/errors.ts'
import { addressBlock } from './address-block.ts'
import { foldedName } from './folded-name.ts'
import type { BegunLockout, LockedOut } from './lockouts/lockout.ts'

/**
 * So many hits within a window. The next hit is refused and starts a lock-out; each further lock-out is
 * twice as long, up to the maximum. Refused hits do not count. A lock-out is forgotten when the maximum
 * time has passed since its end.
 */
export interface Limit {
  readonly hits: number
  readonly windowSeconds: number
  readonly lockoutSeconds: number
  readonly maxLockoutSeconds: number
}

/** Counts under `key`, unless the mark `unless` is set. */
export interface Hit {
  readonly key: string
  readonly limit: Limit
  readonly unless?: string
}

export interface Counted {
  /** The rest of the lock-out; 0 when the hit was counted. */
  readonly lockedOutSeconds: number
  /** The lock-outs that this hit started. */
  readonly began: readonly BegunCount[]
  /** Takes the hit back under every key that counted it, and does `also` in the same atomic step. */
  takeBack(also?: AlsoDone): Promise<void>
}

/** A lock-out that starts under a key: for how long, and the how many-th in a row. */
interface BegunCount {
  readonly key: string
  readonly lockoutMs: number
  readonly lockouts: number
}

export interface AlsoDone {
  /** A key whose hits and lock-outs are forgotten. */
  readonly clear: string
  /** A mark to set for so long. */
  readonly mark: { readonly key: string; readonly seconds: number }
}

/** Where hits are counted. An unreachable store must neither fail logins nor remove the limit. */
export interface Counters {
  /** Counts a hit under each key, or under no key when one of them is over its limit. */
  hit(hits: readonly Hit[]): Promise<Counted>
}

export interface ThrottleLimits {
  readonly perAddressPerMinute: number
  readonly failuresPerAccount: number
  readonly failuresPerPair: number
  readonly failureWindowSeconds: number
  readonly waitSeconds: number
  readonly longestWaitSeconds: number
  readonly knownAddressDays: number
  readonly captchaPerAddressPerMinute: number
}

interface ThrottleParts {
  readonly counters: Counters
  readonly limits: ThrottleLimits
  /** Equal on every replica. Store keys hold digests of names: people type passwords into that field. */
  readonly digestKey: () => string
  /** Called for each refused login. */
  readonly onLockout?: (by: 'address' | 'account') => void
  /** Called once for each lock-out, when it starts. Must not throw. */
  readonly onLockoutBegan?: (lockout: BegunLockout) => void
}

/** A hit, and who is locked out once it is one too many. */
interface LimitedHit extends Hit {
  readonly who: LockedOut
}

/**
 * The client of an attempt. Cross-site attempts (`foreign`) count apart: else any page that an
 * administrator has open could use up the attempts of that address and lock the owner out.
 */
interface Client {
  readonly address: string
  readonly foreign: boolean
}

/** An allowed attempt. It counts as a wrong password until one of these is called. */
export interface PasswordAttempt {
  succeeded(): Promise<void>
  /** The password could not be checked, so it does not count as wrong. */
  notChecked(): Promise<void>
}

/**
 * Limits password guessing: by address before the request is read, by account and by pair of account and
 * address before a password is hashed.
 *
 * An address from which an account has logged in is known for that account, and only the pair counts
 * there: attackers elsewhere lock out strangers, never the owner at a known address. A correct password
 * clears the pair but not the failures of the account, so that an attacker gains nothing from the
 * owner's logins.
 */
export function createThrottle(parts: ThrottleParts) {
  const { counters, limits, digestKey, onLockout, onLockoutBegan } = parts
  const lockout = {
    lockoutSeconds: limits.waitSeconds,
    maxLockoutSeconds: limits.longestWaitSeconds,
  }
  const perMinute = (hits: number): Limit => ({ hits, windowSeconds: 60, ...lockout })
  const failures = (hits: number): Limit => ({
    hits,
    windowSeconds: limits.failureWindowSeconds,
    ...lockout,
  })
  const perClient = {
    login: perMinute(limits.perAddressPerMinute),
    captcha: perMinute(limits.captchaPerAddressPerMinute),
  }
  const perAccount = failures(limits.failuresPerAccount)
  const perPair = failures(limits.failuresPerPair)
  const knownSeconds = limits.knownAddressDays * 86_400

  async function count(hits: readonly LimitedHit[], by?: 'address' | 'account'): Promise<Counted> {
    const counted = await counters.hit(hits)
    const { lockedOutSeconds: retryAfterSeconds, began } = counted
    if (retryAfterSeconds === 0) return counted
    for (const { key: begun, lockoutMs, lockouts } of began) {
      const hit = hits.find((one) => one.key === begun)
      if (hit === undefined) continue
      const attempts = hit.limit.hits * lockouts
      onLockoutBegan?.({ ...hit.who, key: begun, lockoutMs, attempts })
    }
    if (by !== undefined) onLockout?.(by)
    throw new Refusal('too-many-requests', { retryAfterSeconds })
  }

  async function countClient({ address, foreign }: Client, of: 'login' | 'captcha'): Promise<void> {
    const block = addressBlock(address)
    const key = addressKey(digestKey(), of, block, foreign)
    const isLogin = of === 'login'
    const who = { kind: isLogin ? 'address' : of, block, foreign } as const
    await count([{ key, limit: perClient[of], who }], isLogin ? 'address' : undefined)
  }

  return {
    address: (client: Client) => countClient(client, 'login'),
    captcha: (client: Client) => countClient(client, 'captcha'),
    async password(username: string, address: string): Promise<PasswordAttempt> {
      const block = addressBlock(address)
      const digest = digestKey()
      const pair = digestOf(digest, 'login:pair', [foldedName(username), block])
      // The name as typed: else the owner of `Admin` could make addresses known for `admin`.
      const known = digestOf(digest, 'login:known', [username, block])
      const hits: readonly LimitedHit[] = [
        { key: pair, limit: perPair, who: { kind: 'pair', name: username, block } },
        {
          ...{ key: accountKey(digest, username), limit: perAccount, unless: known },
          who: { kind: 'account', name: username },
        },
      ]
      const counted = await count(hits, 'account')
      return {
        succeeded: () =>
          counted.takeBack({ clear: pair, mark: { key: known, seconds: knownSeconds } }),
        notChecked: () => counted.takeBack(),
      }
    },
  }
}

/** The key under which wrong passwords of an account are counted, from any address. */
export function accountKey(digestKey: string, username: string): string {
  return digestOf(digestKey, 'login:account', [foldedName(username)])
}

/** The key under which logins, or captchas, of an address are counted. */
export function addressKey(
  digestKey: string,
  of: 'login' | 'captcha',
  block: string,
  foreign: boolean,
): string {
  return digestOf(digestKey, `${of}:address`, [block, ...(foreign ? ['foreign'] : [])])
}

function digestOf(digestKey: string, kind: string, names: readonly string[]): string {
  const digest = createHmac('sha256', digestKey).update(JSON.stringify([kind, ...names]))
  return `${kind}:${digest.digest('base64url').slice(0, 22)}`
}

export type Throttle = ReturnType<typeof createThrottle>
