import { SignJWT } from 'jose'
import { Fault } from '../kernel/errors.ts'
import type { KeySet } from './key-set.ts'
import type { SigningKey } from './keys.ts'
import type { VerifiedToken } from './tokens.ts'

/** A signed statement about the caller, for one audience. A promise only while it is being signed. */
export type Assert = (token: VerifiedToken, audience: string) => string | Promise<string>

interface AssertionParts {
  /** The active keys. */
  readonly keys: () => KeySet
  readonly issuer: string
  readonly lifetimeSeconds: number
  /** The claims of the token that it repeats. */
  readonly claims: readonly string[]
  /** Seconds since the epoch, with fractions. */
  readonly now: () => number
}

/** RFC 8725 3.11: a type of its own, so that an assertion is not accepted as a login token or vice versa. */
const assertionType = 'postern-assertion+jwt'

interface Written {
  readonly text: string
  readonly signer: SigningKey
  /** From then on a new one is signed, while this one is still sent. */
  readonly renewAt: number
  /** From then on it is no longer sent. */
  readonly staleAt: number
}

interface CachedAssertion {
  written?: Written
  signing?: { readonly signer: SigningKey; readonly text: Promise<string> } | undefined
}

/**
 * Signs assertions and caches one for each token and audience. A sent assertion has at least a quarter
 * of its lifetime left. From half of the lifetime on, a request triggers a new one in the background,
 * so that only the first request waits. An assertion does not outlive the token or its signing key.
 * Throws a Fault without an asymmetric signing key.
 */
export function createAssertions(parts: AssertionParts): Assert {
  const { keys, issuer, lifetimeSeconds, now } = parts
  const entries = new WeakMap<VerifiedToken, Map<string, CachedAssertion>>()
  const findSigner = createSignerFinder()

  function entryOf(token: VerifiedToken, audience: string): CachedAssertion {
    let byAudience = entries.get(token)
    if (byAudience === undefined) {
      byAudience = new Map()
      entries.set(token, byAudience)
    }
    let entry = byAudience.get(audience)
    if (entry === undefined) {
      entry = {}
      byAudience.set(audience, entry)
    }
    return entry
  }

  async function write(
    { caller, expiresAt, claims = {} }: VerifiedToken,
    audience: string,
    signer: SigningKey,
  ): Promise<Written> {
    const issuedAt = Math.floor(now())
    const ends = Math.min(issuedAt + lifetimeSeconds, Math.ceil(expiresAt))
    const repeated = parts.claims.filter((name) => Object.hasOwn(claims, name))
    const text = await new SignJWT({
      role_key: caller.roleKey,
      role_id: caller.roleId,
      role_name: caller.roleName,
      data_scope: caller.dataScope,
      name: caller.username,
      ...(parts.claims.length > 0 && {
        claims: Object.fromEntries(repeated.map((name) => [name, claims[name]])),
      }),
    })
      .setProtectedHeader({ alg: signer.algorithm, typ: assertionType, kid: signer.kid ?? '' })
      .setIssuer(issuer)
      .setAudience(audience)
      .setSubject(caller.userId)
      .setIssuedAt(issuedAt)
      .setExpirationTime(ends)
      .sign(signer.signer)
    // If the token expires first, a new assertion would expire at the same time.
    const isLast = ends < issuedAt + lifetimeSeconds
    return {
      text,
      signer,
      renewAt: isLast ? ends : issuedAt + lifetimeSeconds / 2,
      staleAt: isLast ? ends : issuedAt + lifetimeSeconds * 0.75,
    }
  }

  function sign(
    entry: CachedAssertion,
    token: VerifiedToken,
    audience: string,
    signer: SigningKey,
  ) {
    if (entry.signing !== undefined && isSame(entry.signing.signer, signer))
      return entry.signing.text
    const text = write(token, audience, signer)
      .then((written) => {
        entry.written = written
        return written.text
      })
      .finally(() => {
        if (entry.signing?.text === text) entry.signing = undefined
      })
    entry.signing = { signer, text }
    return text
  }

  return (token, audience) => {
    const signer = findSigner(keys())
    if (signer === undefined)
      throw new Fault('keys', { reason: 'no asymmetric private key to sign assertions with' })
    const entry = entryOf(token, audience)
    const { written } = entry
    const at = now()
    if (written === undefined || !isSame(written.signer, signer) || at >= written.staleAt) {
      return sign(entry, token, audience, signer)
    }
    // If this fails, the first request after `staleAt` gets the error.
    if (at >= written.renewAt) sign(entry, token, audience, signer).then(undefined, () => {})
    return written.text
  }
}

/** A reload reads the same files into new objects. */
function isSame(one: SigningKey, other: SigningKey): boolean {
  return one === other || (one.identity === other.identity && one.kid === other.kid)
}

/** Finds the signer once for each key set. */
function createSignerFinder(): typeof assertionSigner {
  let last: { readonly keys: KeySet; readonly signer: SigningKey | undefined } | undefined
  return (keys) => {
    if (last?.keys !== keys) last = { keys, signer: assertionSigner(keys) }
    return last.signer
  }
}

/**
 * The key for assertions: the signing key of tokens if it has a public part, otherwise the only such
 * key. Never a shared secret: a service that can verify with it could also issue tokens.
 */
export function assertionSigner({ signer, entries }: KeySet): SigningKey | undefined {
  if (signer?.publicJwk !== undefined) return signer
  const able = entries.flatMap(({ signing }) => (signing?.publicJwk ? [signing] : []))
  return able.length === 1 ? able[0] : undefined
}
