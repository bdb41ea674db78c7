import { compactVerify } from 'jose'
import { Fault, Refusal } from '../kernel/errors.ts'
import type { Caller } from './caller.ts'
import type { CarriedClaims } from './carried-claims.ts'
import { type OwnKind, readPayload } from './claims.ts'
import { type CompactToken, parseCompactForm } from './compact-form.ts'
import { createGoodSignatures } from './good-signatures.ts'
import type { KeySet } from './key-set.ts'
import type { VerifyingKey } from './keys.ts'
import { excessiveLifetime, type LifetimeLimits, limitFor } from './lifetime.ts'
import type { Revocations, TokenRevocation } from './revocations.ts'
import { type IssuedToken, signToken } from './sign-token.ts'
import { issueTime, tokenName } from './token-id.ts'
import type { KeptToken, UserRevocation } from './user-marks.ts'

/** Who a token is for: a person who logged in, a program of ours, or a caller of another issuer. */
export type TokenKind = OwnKind | 'issuer'

/** A token that was valid when it was verified. Frozen and shared between requests. */
export interface VerifiedToken {
  readonly kind: TokenKind
  readonly caller: Caller
  /** The key that signed it. */
  readonly key: Pick<VerifyingKey, 'kid' | 'identity'>
  /** Names the token in the revocation list. */
  readonly id: string
  /** Names the user in the revocation list. */
  readonly userId: string
  readonly expiresAt: number
  readonly notBefore: number | undefined
  /** Milliseconds since the epoch. */
  readonly issuedAt: number
  /** The name of the other issuer, for tokens of that kind. */
  readonly issuer?: string
  /** Casbin's domain, if a claim names it. */
  readonly domain?: string
  /** For services. Absent: none was configured when the token was issued, or was known. */
  readonly claims?: CarriedClaims
}

/** Verifies tokens of other issuers. */
export interface ForeignTokens {
  /**
   * `undefined` if no configured issuer is named as the issuer: then only our own keys count, as they
   * never do otherwise. Does not check what changes with time: expiry, start and revocation.
   */
  verify(text: string, token: CompactToken): Promise<VerifiedToken> | undefined
  /** Why the key that signed a verified token can no longer be used, or `undefined`. */
  keyProblem(token: VerifiedToken): Refusal | Fault | undefined
}

/**
 * Returns the verified token or throws a Refusal; synchronously if the signature was verified before.
 * Checks time and revocation on every call.
 */
export type VerifyToken = (token: string) => VerifiedToken | Promise<VerifiedToken>

/** Whether one of our keys signed this text, also if it has expired or is revoked. */
export type IsOwnToken = (text: string) => Promise<boolean>

interface TokenParts extends LifetimeLimits {
  /** The active keys. */
  readonly keys: () => KeySet
  readonly revocations: Revocations
  readonly lifetimeSeconds: number
  readonly maxTokenBytes: number
  /** Unset: only tokens of ours are accepted. */
  readonly foreign?: ForeignTokens | undefined
  /** The claim that names Casbin's domain. Unset: no claim does. */
  readonly domainClaim?: string | undefined
  /** Seconds since the epoch, with fractions. */
  readonly now: () => number
}

/** Issuing and verifying are in one place, so that one reads what the other writes. */
export function createTokens(parts: TokenParts) {
  const { keys, revocations, lifetimeSeconds, now } = parts
  // Caches only the result of the signature check, by the whole token, and never that of a time check
  // (CVE-2026-107719).
  const remembered = createGoodSignatures<VerifiedToken>()
  const seenExpired = new WeakSet<VerifiedToken>()

  /** `readAt` is when the caller's account was read: a revocation since then revokes this token too. */
  async function issue(
    caller: Caller,
    readAt = now(),
    claims?: CarriedClaims,
  ): Promise<IssuedToken> {
    const issuedAtMs = revocations.issueTime(caller.userId, Math.floor(readAt * 1000))
    return signToken(keys(), caller, { kind: 'user', issuedAtMs, lifetimeSeconds, claims })
  }

  function verify(token: string): VerifiedToken | Promise<VerifiedToken> {
    const known = remembered.find(token)
    return known === undefined ? verifyFirst(token) : checkNow(known)
  }

  async function verifyFirst(token: string): Promise<VerifiedToken> {
    const verified = await verifySignature(token)
    remembered.keep(token, verified)
    return checkNow(verified)
  }

  async function verifySignature(token: string): Promise<VerifiedToken> {
    const compact = parseCompactForm(token, parts.maxTokenBytes)
    if (compact === undefined) throw invalid('not a compact JWS')
    const foreign = parts.foreign?.verify(token, compact)
    if (foreign !== undefined) return foreign
    const key = chooseKey(compact.header, keys())
    if (key === undefined) throw invalid('no key for this header')
    if (!(await isSignedBy(token, key))) throw invalid('wrong signature')

    const { token: verified, issuedAt } = readOwnToken(compact, key, parts.domainClaim)
    refuseFutureIssue(issuedAt)
    if (verified.kind === 'service' && parts.service === undefined)
      throw invalid('service tokens are off (tokens.service.enabled)')
    refuseLongLife(verified, verified.kind)
    return verified
  }

  async function isOwn(text: string): Promise<boolean> {
    const known = remembered.find(text)
    if (known !== undefined) return known.kind !== 'issuer'
    const compact = parseCompactForm(text, parts.maxTokenBytes)
    const key = compact && chooseKey(compact.header, keys())
    return key !== undefined && isSignedBy(text, key)
  }

  function checkNow(token: VerifiedToken): VerifiedToken {
    const problem = problemOf(token)
    if (problem !== undefined) throw problem
    return token
  }

  function problemOf(token: VerifiedToken): Refusal | Fault | undefined {
    const at = now()
    // A token that was seen as expired stays expired when the clock is set back.
    if (at >= token.expiresAt || seenExpired.has(token)) {
      seenExpired.add(token)
      return new Refusal('token-expired')
    }
    const problem = keyProblemOf(token)
    if (problem !== undefined) return problem
    if (token.notBefore !== undefined && at < token.notBefore) return invalid('not valid yet')
    switch (revocations.check(token)) {
      case 'live':
        return undefined
      case 'revoked':
        return new Refusal('token-revoked')
      case 'unknown':
        return new Fault('revocations', { reason: 'the revocation list is too old' })
    }
  }

  /** A cached token must not outlive its key. */
  function keyProblemOf(token: VerifiedToken): Refusal | Fault | undefined {
    if (token.kind === 'issuer') return parts.foreign?.keyProblem(token)
    const isKnown = keys().find(token.key.kid)?.identity === token.key.identity
    return isKnown ? undefined : invalid('the key that signed it was removed')
  }

  function refuseFutureIssue(issuedAt: number | undefined): void {
    if (issuedAt !== undefined && issuedAt > now() + parts.clockSkewSeconds) {
      throw invalid('issued in the future')
    }
  }

  /** Checked once, before caching: the rest of a lifetime only shrinks. */
  function refuseLongLife(token: VerifiedToken, kind: OwnKind): void {
    const limit = limitFor(kind, parts)
    const lifetime = excessiveLifetime(token, limit, now())
    if (lifetime === undefined) return
    const reason = `lifetime ${lifetime} s, at most ${limit.maxLifetimeSeconds} s is accepted`
    throw new Refusal('token-too-long-lived', { reason })
  }

  return {
    issue,
    verify,
    isOwn,
    /** Why a verified token is no longer valid, or `undefined`. */
    problemOf,
  }
}

export type Tokens = ReturnType<typeof createTokens>

/** Reads a token that one of our keys signed. `issuedAt` is in seconds, by its own clock. */
export function readOwnToken(
  { payload, signingInput }: Pick<CompactToken, 'payload' | 'signingInput'>,
  key: VerifiedToken['key'],
  domainClaim?: string,
) {
  const { tokenId, issuedAt, ...claims } = readPayload(payload, domainClaim)
  const token = Object.freeze({
    ...claims,
    caller: Object.freeze(claims.caller),
    key,
    id: tokenName(tokenId, signingInput),
    userId: claims.caller.userId,
    issuedAt: issueTime(tokenId, issuedAt),
  })
  return { token, issuedAt }
}

/** Header members by which a token could bring its own key or change how it is parsed. */
const foreignMembers = ['crit', 'b64', 'jwk', 'jku', 'x5u', 'x5c', 'zip', 'cty'] as const

export function bringsKey(header: CompactToken['header']): boolean {
  return foreignMembers.some((member) => Object.hasOwn(header, member))
}

/**
 * Chooses the key by `kid` alone; without a `kid`, the shared secret. The key determines the
 * algorithm, and a header with another algorithm gets no key.
 */
export function chooseKey(
  header: CompactToken['header'],
  keys: Pick<KeySet, 'find'>,
): VerifyingKey | undefined {
  if (bringsKey(header)) return undefined
  if (header['typ'] !== undefined && !isJwtType(header['typ'])) return undefined

  const kid = header['kid']
  if (kid !== undefined && typeof kid !== 'string') return undefined
  const key = keys.find(kid)
  return key?.algorithm === header['alg'] ? key : undefined
}

/** Whether the signature verifies with this key and its one algorithm. */
export async function isSignedBy(
  token: string,
  key: Pick<VerifyingKey, 'key'> & { readonly algorithm: string },
): Promise<boolean> {
  try {
    await compactVerify(token, key.key, { algorithms: [key.algorithm] })
    return true
  } catch {
    return false
  }
}

function isJwtType(typ: unknown): boolean {
  return typeof typ === 'string' && typ.toUpperCase() === 'JWT'
}

/** The latest time that every store and a Date can represent. */
const endOfTime = 8_640_000_000_000_000

/** The revocation of this token, which lasts until the token would have expired. */
export function revocationOf(token: VerifiedToken): TokenRevocation {
  const { id, userId, issuedAt } = token
  return { kind: 'token', id, userId, issuedAt, until: endOf(token) }
}

/** Excepts this token from a revocation of all tokens of its user. */
export function keptFrom({ before }: UserRevocation, token: VerifiedToken): KeptToken {
  const { id, userId, issuedAt } = token
  return { kind: 'kept', id, userId, issuedAt, before, until: endOf(token) }
}

/** Other issuers write `exp` in microseconds, or one that never comes. */
function endOf({ expiresAt }: VerifiedToken): number {
  return Math.min(Math.ceil(expiresAt * 1000), endOfTime)
}

function invalid(reason: string): Refusal {
  return new Refusal('token-invalid', { reason })
}
