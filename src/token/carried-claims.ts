import { isRecord } from '../kernel/json.ts'
import { claimAt } from './claim-path.ts'

/** What else services learn about the holder of a token: texts and lists of texts, by claim. */
export type CarriedClaims = Readonly<Record<string, string | readonly string[]>>

/** The claims that services learn, as far as they fit. */
export interface ClaimPicker {
  readonly names: () => readonly string[]
  /** `undefined` if there is none. `whose` is for the log. */
  readonly pick: (
    whose: string,
    find: (name: string) => unknown,
  ) => { readonly claims?: CarriedClaims }
}

/** For sessions, which no service sees. */
export const noClaims: ClaimPicker = { names: () => [], pick: () => ({}) }

/**
 * Picks in the order of the names. A claim that does not fit is left out whole: a list that was cut short
 * would say that someone is not in a group. Nobody is refused a login for it, because groups grow where
 * no operator of ours sees it. `onLeftOut` hears of it.
 */
export function createClaimPicker(
  settings: () => { readonly names: readonly string[]; readonly maxBytes: number },
  onLeftOut: (leftOut: { claim: string; bytes: number; whose: string }) => void,
): ClaimPicker {
  return {
    names: () => settings().names,
    pick(whose, find) {
      const { names, maxBytes } = settings()
      let free = maxBytes
      const picked = names.flatMap((claim) => {
        const found = textsIn(find(claim))
        // Some providers send one group as a text, which a service must not split.
        const value = claim === 'groups' && typeof found === 'string' ? [found] : found
        if (value === undefined) return []
        // As long as in the payload of a token.
        const bytes = Buffer.byteLength(JSON.stringify([claim, value]))
        if (bytes > free) {
          onLeftOut({ claim, bytes, whose })
          return []
        }
        free -= bytes
        return [[claim, value] as const]
      })
      return picked.length === 0 ? {} : { claims: Object.freeze(Object.fromEntries(picked)) }
    },
  }
}

/** Reads what `pick` returned out of a token. Issuers that share our secret may write something else. */
export function carriedIn(value: unknown): { readonly claims?: CarriedClaims } {
  if (!isRecord(value)) return {}
  const read = Object.entries(value).flatMap(([claim, one]) => {
    const texts = textsIn(one)
    return texts === undefined ? [] : [[claim, texts] as const]
  })
  return { claims: Object.freeze(Object.fromEntries(read)) }
}

/** Own members only: no token carries `constructor`. */
export function carriedClaim(
  claims: CarriedClaims | undefined,
  name: string,
): string | readonly string[] {
  return claims !== undefined && Object.hasOwn(claims, name) ? (claims[name] ?? '') : ''
}

/** How settings name the claim `email`. */
const emailNames: ReadonlySet<string> = new Set(['email', '/email'])

/**
 * Whether people may have chosen what this claim says. At some issuers they enter any address, or an
 * administrator of any tenant does, so only `email_verified` makes one theirs (OpenID Connect Core 5.7).
 * Some send it as text.
 */
export function isUnverifiedEmail(claims: Readonly<Record<string, unknown>>, name: string) {
  const verified = claims['email_verified']
  return emailNames.has(name) && verified !== true && verified !== 'true'
}

/** A claim for services, of a token of another issuer. */
export function vouchedClaim(claims: Readonly<Record<string, unknown>>, name: string): unknown {
  return isUnverifiedEmail(claims, name) ? undefined : claimAt(claims, name)
}

function textsIn(value: unknown): string | readonly string[] | undefined {
  const texts = Array.isArray(value) ? value.flatMap((one) => textIn(one) ?? []) : textIn(value)
  return texts?.length === 0 ? undefined : texts
}

function textIn(value: unknown): string | undefined {
  return ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : undefined
}
