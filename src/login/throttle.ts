import { createHmac } from 'node:crypto'
import { Refusal } from '../errors.ts'
import { addressBlock } from './address-block.ts'

/**
 * So many hits within a window. The next one is refused and starts a wait, and each further wait
 * is twice as long, up to the longest. Refused hits are not counted; a wait that has been over for
 * as long as the longest takes is forgotten.
 */
export interface Limit {
  readonly hits: number
  readonly windowSeconds: number
  readonly waitSeconds: number
  readonly longestWaitSeconds: number
}

/** Something to count under a key, unless the mark `unless` stands. */
export interface Hit {
  readonly key: string
  readonly limit: Limit
  readonly unless?: string
}

export interface Counted {
  /** How long whoever came has to wait; 0 when the hit was counted. */
  readonly waitSeconds: number
  /** Takes the hit back under every key that counted it, and does the rest in the same step. */
  takeBack(also?: AlsoDone): Promise<void>
}

export interface AlsoDone {
  /** A key whose count and waits are forgotten altogether. */
  readonly clear: string
  /** A mark that stands from now on, for so long. */
  readonly mark: { readonly key: string; readonly seconds: number }
}

/** Where hits are counted. A store that is away is no reason to fail, nor to let everybody in. */
export interface Counters {
  /** Counts a hit under each key, or under none when one of them is over its limit. */
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
  /** The same on every replica. Keys the names in the store: some people type a password there. */
  readonly digestKey: () => string
  /** A login attempt was turned away, by what its address or its account has behind it. */
  readonly onLockout?: (by: 'address' | 'account') => void
}

/**
 * Who asks. What a page of another site makes a browser ask is counted apart: else any page that an
 * administrator has open could use up the attempts of that address, and lock the owner out.
 */
interface Client {
  readonly address: string
  readonly foreign: boolean
}

/** A password that may be looked at. Without a further word it counts as a wrong one. */
interface PasswordAttempt {
  succeeded(): Promise<void>
  /** The password was not checked, so it was not wrong. */
  notAsked(): Promise<void>
}

/**
 * Bounds guessing: by address before anything is looked at, by account and by pair of account and
 * address before a password is hashed.
 *
 * An address from which an account has logged in is known for that account, and then only the pair
 * counts: what strangers do elsewhere makes strangers wait, and nobody at a known address. A right
 * password from a known or new address clears the pair and leaves the strangers' failures standing,
 * so that a guesser gains nothing from the owner's coming and going.
 */
export function createThrottle({ counters, limits, digestKey, onLockout }: ThrottleParts) {
  const { waitSeconds, longestWaitSeconds } = limits
  const waits = { waitSeconds, longestWaitSeconds }
  const perMinute = (hits: number): Limit => ({ hits, windowSeconds: 60, ...waits })
  const failures = (hits: number): Limit => ({
    hits,
    windowSeconds: limits.failureWindowSeconds,
    ...waits,
  })
  const perAddress = perMinute(limits.perAddressPerMinute)
  const perCaptchaAddress = perMinute(limits.captchaPerAddressPerMinute)
  const perAccount = failures(limits.failuresPerAccount)
  const perPair = failures(limits.failuresPerPair)
  const knownSeconds = limits.knownAddressDays * 86_400

  async function count(hits: readonly Hit[], by?: 'address' | 'account'): Promise<Counted> {
    const counted = await counters.hit(hits)
    const { waitSeconds: retryAfterSeconds } = counted
    if (retryAfterSeconds === 0) return counted
    if (by !== undefined) onLockout?.(by)
    throw new Refusal('too-many-requests', { retryAfterSeconds })
  }

  function key(kind: string, ...names: readonly string[]): string {
    const digest = createHmac('sha256', digestKey()).update(JSON.stringify([kind, ...names]))
    return `${kind}:${digest.digest('base64url').slice(0, 22)}`
  }

  return {
    async address({ address, foreign }: Client): Promise<void> {
      const who = [addressBlock(address), ...(foreign ? ['foreign'] : [])]
      await count([{ key: key('login:address', ...who), limit: perAddress }], 'address')
    },
    async captcha({ address, foreign }: Client): Promise<void> {
      const who = [addressBlock(address), ...(foreign ? ['foreign'] : [])]
      await count([{ key: key('captcha:address', ...who), limit: perCaptchaAddress }])
    },
    async password(username: string, address: string): Promise<PasswordAttempt> {
      const block = addressBlock(address)
      const account = foldedName(username)
      const pair = key('login:pair', account, block)
      // The name as it stands: else the owner of `Admin` could make addresses known for `admin`.
      const known = key('login:known', username, block)
      const hits = [
        { key: pair, limit: perPair },
        { key: key('login:account', account), limit: perAccount, unless: known },
      ]
      const counted = await count(hits, 'account')
      return {
        succeeded: () =>
          counted.takeBack({ clear: pair, mark: { key: known, seconds: knownSeconds } }),
        notAsked: () => counted.takeBack(),
      }
    },
  }
}

/** Spellings that a database can take for one name share one count. */
function foldedName(username: string): string {
  return username.normalize('NFKC').trimEnd().toLowerCase()
}

export type Throttle = ReturnType<typeof createThrottle>
