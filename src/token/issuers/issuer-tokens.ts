import { Fault, Refusal } from '../../kernel/errors.ts'
import { type ClaimPicker, vouchedClaim } from '../carried-claims.ts'
import { invalidToken } from '../claims.ts'
import { type CompactToken, keepExact, parseObject } from '../compact-form.ts'
import { domainIn } from '../domain-claim.ts'
import { excessiveLifetime } from '../lifetime.ts'
import { bringsKey, type ForeignTokens, isSignedBy, type VerifiedToken } from '../tokens.ts'
import type { Issuer } from './issuer.ts'
import { readIssuerClaims } from './issuer-claims.ts'
import type { IssuerKey } from './issuer-key.ts'
import { issuerSubject, issuerTokenName } from './issuer-names.ts'
import type { KeySchedule } from './key-schedule.ts'
import { otherPurpose, shortType } from './token-purpose.ts'

interface IssuerTokenParts {
  readonly issuers: readonly { readonly issuer: Issuer; readonly keys: KeySchedule }[]
  readonly clockSkewSeconds: number
  /** The claim that names Casbin's domain. Unset: no claim does. */
  readonly domainClaim?: string | undefined
  /** Unset: services learn no further claims. */
  readonly claims?: ClaimPicker | undefined
  /** Seconds since the epoch, with fractions. */
  readonly now: () => number
}

type OpenIssuer = IssuerTokenParts['issuers'][number]

/**
 * Verifies tokens of other issuers. The unverified `iss` only chooses the issuer, by an exact match;
 * then only the keys, algorithms and audiences of that issuer count.
 */
export function createIssuerTokens(parts: IssuerTokenParts): ForeignTokens {
  const { clockSkewSeconds, domainClaim, now } = parts
  const byIssuer = new Map(parts.issuers.map((each) => [each.issuer.issuer, each]))
  const byName = new Map(parts.issuers.map((each) => [each.issuer.name, each]))

  async function verify(
    text: string,
    { header, signingInput }: CompactToken,
    claims: Readonly<Record<string, unknown>>,
    { issuer, keys }: OpenIssuer,
  ): Promise<VerifiedToken> {
    refuseHeader(header, issuer)
    const key = await findKey(header, keys, issuer, () => isNewerThan(keys, claims['iat']))
    if (!(await isSignedBy(text, key))) throw invalidToken('wrong signature')
    const purpose = otherPurpose(header['typ'], claims, issuer.acceptIdTokens ?? false)
    if (purpose !== undefined) throw invalidToken(`it is ${purpose}, not an access token`)

    const read = readIssuerClaims(claims, issuer)
    const { issuedAt, notBefore } = read
    if (issuedAt !== undefined && issuedAt > now() + clockSkewSeconds) {
      throw invalidToken('issued in the future')
    }
    const verified = Object.freeze({
      kind: 'issuer',
      issuer: issuer.name,
      caller: Object.freeze(read.caller),
      userId: issuerSubject(issuer.issuer, read.subject),
      key,
      id: issuerTokenName(issuer.issuer, read.tokenId, signingInput),
      expiresAt: read.expiresAt,
      // The clock of another issuer may be ahead of ours.
      notBefore: notBefore === undefined ? undefined : notBefore - clockSkewSeconds,
      issuedAt: issuedAt === undefined ? 0 : Math.floor(issuedAt) * 1000,
      ...domainIn(claims, domainClaim),
      ...parts.claims?.pick(read.caller.userId, (name) => vouchedClaim(claims, name)),
    } as const)
    refuseLongLife(verified, issuer)
    return verified
  }

  /** Whether a token of this time, which is not verified, can have a key that is newer than ours. */
  function isNewerThan(keys: KeySchedule, issuedAt: unknown): boolean {
    const fetchedAt = now() - (keys.ageSeconds() ?? Number.POSITIVE_INFINITY)
    return typeof issuedAt !== 'number' || issuedAt > fetchedAt - clockSkewSeconds
  }

  function refuseLongLife(token: VerifiedToken, { maxLifetimeSeconds, name }: Issuer): void {
    const lifetime = excessiveLifetime(token, { maxLifetimeSeconds, clockSkewSeconds }, now())
    if (lifetime === undefined) return
    const reason = `lifetime ${lifetime} s, at most ${maxLifetimeSeconds} s is accepted (maxLifetimeSeconds of issuer ${name})`
    throw new Refusal('token-too-long-lived', { reason })
  }

  return {
    verify(text, compact) {
      const claims = parseObject(compact.payload, keepExact)
      const named = claims?.['iss']
      const found = typeof named === 'string' ? byIssuer.get(named) : undefined
      if (claims === undefined || found === undefined) return undefined
      return verify(text, compact, claims, found)
    },
    keyProblem({ issuer = '', key }) {
      const keys = byName.get(issuer)?.keys
      const set = keys?.current()
      if (set === undefined) return withoutKeys(issuer, keys)
      return set.has(key.identity) ? undefined : invalidToken('the key that signed it was removed')
    },
  }
}

/** Types name the purpose of a token (RFC 8725 3.11); of those that issuers leave out, claims tell. */
function refuseHeader(header: CompactToken['header'], { typ: wanted }: Issuer): void {
  if (bringsKey(header)) throw invalidToken('its header brings a key or an extension')
  const type = shortType(header['typ'])
  if (type === undefined && wanted === undefined) return
  const accepted = wanted === undefined ? ['jwt', 'at+jwt'] : [shortType(wanted)]
  if (!accepted.includes(type)) throw invalidToken(`its typ is not ${accepted.join(' or ')}`)
}

/**
 * The key of a header. An unknown `kid` may be that of a new key, so keys are fetched, within the bounds
 * of the schedule. If they cannot be, that is a fault: neither an outage nor a second rotation in a
 * cool-down may make callers discard good tokens. A token from before the last fetch has no newer key.
 */
async function findKey(
  { kid, alg }: CompactToken['header'],
  keys: KeySchedule,
  { name, algorithms }: Issuer,
  isNewer: () => boolean,
): Promise<IssuerKey> {
  if (kid !== undefined && typeof kid !== 'string') throw invalidToken('kid is not a text')
  // No key that a fetch could bring would fit.
  if (!algorithms.some((one) => one === alg)) throw invalidToken('its algorithm is not accepted')
  const known = keys.current()?.choose(kid, alg)
  if (known !== undefined && known !== 'unknown') return known

  const isAsked = known === 'unknown' || keys.current() === undefined
  const isFetched = isAsked && (await keys.refresh())
  const set = keys.current()
  if (set === undefined) throw withoutKeys(name, keys)
  const found = set.choose(kid, alg)
  if (found === 'unknown' && (keys.isBehind() || (!isFetched && isNewer()))) {
    const reason = keys.isBehind() ? why(keys) : 'its keys were fetched within cooldownSeconds'
    throw new Fault('issuer', { reason: `unknown kid of issuer ${name}: ${reason}` })
  }
  if (found === undefined || found === 'unknown') throw invalidToken('no key for this header')
  return found
}

function withoutKeys(name: string, keys: KeySchedule | undefined): Fault {
  return new Fault('issuer', { reason: `no usable keys of issuer ${name}: ${why(keys)}` })
}

function why(keys: KeySchedule | undefined): string {
  return keys?.failure() ?? 'they are still being fetched'
}
