import { createHmac, hash } from 'node:crypto'
import type { Stick } from './balance.ts'
import type { Target } from './target.ts'

/** How the clients of a route stay with a target, as the configuration has it. */
export interface StickySettings {
  readonly by: 'cookie' | 'user'
  readonly cookie?: string
  /** How long the browser keeps the cookie. Unset: until it is closed. */
  readonly seconds?: number
}

export interface StickyParts {
  /** The secret of the cookie values, equal on every replica. Without one, clients cannot stay by cookie. */
  readonly key: () => string | undefined
  /** Whether browsers send the cookie over TLS only. */
  readonly secure: boolean
}

/** Sticky sessions as prepared for a route. */
export interface Sticky {
  /** The name of the cookie; unset: by user. */
  readonly cookie: string | undefined
  readonly choiceFor: (client: StickyClient) => StickyChoice | undefined
}

interface StickyClient {
  readonly who: string
  /** The values of the cookie, in the order of the request. */
  readonly values: readonly string[]
}

/** What one request asks of the choice of its target. */
export interface StickyChoice {
  readonly stick: Stick | undefined
  /** Adds to the headers of a response of this target what keeps the client with it. */
  readonly mark?: (headers: string[], target: Target) => void
}

interface Place {
  readonly path: string
  readonly upstream: string
}

const defaultCookie = 'postern-target'

export function prepareSticky(settings: StickySettings, place: Place, parts: StickyParts): Sticky {
  if (settings.by === 'cookie') return byCookie(settings, place, parts)
  const stickBy = createRendezvous()
  return { cookie: undefined, choiceFor: ({ who }) => ({ stick: stickBy(who) }) }
}

/** Browsers send one for each sticky route above the path; a request with more was made by hand. */
const maxValues = 4

/**
 * The value is a keyed hash of the target: it shows no address, and no client can make one up. A value
 * that belongs to no available target is ignored, and the response replaces it.
 */
function byCookie(
  { cookie = defaultCookie, seconds }: StickySettings,
  { path, upstream }: Place,
  { key, secure }: StickyParts,
): Sticky {
  const maxAge = seconds === undefined ? '' : `; Max-Age=${seconds}`
  const attributes = `Path=${path}${maxAge}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`
  let tags = new WeakMap<Target, string>()
  let secretOfTags: string | undefined

  function tagOf(target: Target, secret: string): string {
    if (secret !== secretOfTags) {
      tags = new WeakMap()
      secretOfTags = secret
    }
    let tag = tags.get(target)
    if (tag === undefined) {
      const digest = createHmac('sha256', secret).update(`${upstream}\n${target.name}`)
      tag = digest.digest('base64url').slice(0, 22)
      tags.set(target, tag)
    }
    return tag
  }

  return {
    cookie,
    choiceFor({ values }) {
      const secret = key()
      if (secret === undefined) return undefined
      const known = values.slice(0, maxValues)
      const stick: Stick = (candidates) => {
        for (const value of known) {
          const found = candidates.find((target) => tagOf(target, secret) === value)
          if (found !== undefined) return found
        }
        return undefined
      }
      return {
        stick: known.length === 0 ? undefined : stick,
        mark(headers, target) {
          const tag = tagOf(target, secret)
          if (!known.includes(tag)) headers.push('Set-Cookie', `${cookie}=${tag}; ${attributes}`)
        },
      }
    },
  }
}

/**
 * Weighted rendezvous hashing: every process chooses the same target for a user, and when a target is
 * lost or added, only its own users move.
 */
function createRendezvous(): (who: string) => Stick {
  const numbers = new WeakMap<Target, number>()

  function numberOfTarget(target: Target): number {
    let number = numbers.get(target)
    if (number === undefined) {
      number = numberOf(target.name)
      numbers.set(target, number)
    }
    return number
  }

  return (who) => (candidates) => {
    const user = numberOf(who)
    let best: Target | undefined
    let most = Number.NEGATIVE_INFINITY
    for (const target of candidates) {
      const score = target.weight / -Math.log(fraction(user ^ numberOfTarget(target)))
      if (score > most) [best, most] = [target, score]
    }
    return best
  }
}

function numberOf(text: string): number {
  return hash('sha256', text, 'buffer').readInt32LE()
}

/** Between 0 and 1, by the finalizer of MurmurHash3: one hash per user, instead of one per target. */
function fraction(number: number): number {
  let mixed = number ^ (number >>> 16)
  mixed = Math.imul(mixed, 0x85ebca6b)
  mixed ^= mixed >>> 13
  mixed = Math.imul(mixed, 0xc2b2ae35)
  mixed ^= mixed >>> 16
  return ((mixed >>> 0) + 0.5) / 2 ** 32
}
