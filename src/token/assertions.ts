import { SignJWT } from 'jose'
import { Fault } from '../errors.ts'
import type { KeySet } from './key-set.ts'
import type { SigningKey } from './keys.ts'
import type { VerifiedToken } from './tokens.ts'

/** A signed statement on who calls, for one audience. A promise only while it is being signed. */
export type Assert = (token: VerifiedToken, audience: string) => string | Promise<string>

interface AssertionParts {
  /** The keys in force now. */
  readonly keys: () => KeySet
  readonly issuer: string
  readonly lifetimeSeconds: number
  /** Seconds since the epoch, with fractions. */
  readonly now: () => number
}

/** RFC 8725 3.11: another type than that of a login token, so that neither passes for the other. */
const assertionType = 'postern-assertion+jwt'

interface Written {
  readonly text: string
  readonly signer: SigningKey
  /** From here on a fresh one is made, while this one is still good. */
  readonly renewAt: number
  /** From here on it is not sent any more. */
  readonly staleAt: number
}

interface Entry {
  written?: Written
  signing?: { readonly signer: SigningKey; readonly text: Promise<string> } | undefined
}

/**
 * Writes assertions, one for each token and audience at a time. What is sent has a quarter of its
 * life before it; a fresh one is made behind a request from half of it on, so that nobody waits
 * but the first. One by a key that does not sign any more is not sent. It does not outlive the
 * token. Throws a Fault while no key here can sign for others.
 */
export function createAssertions({ keys, issuer, lifetimeSeconds, now }: AssertionParts): Assert {
  const entries = new WeakMap<VerifiedToken, Map<string, Entry>>()
  const findSigner = createSignerFinder()

  function entryOf(token: VerifiedToken, audience: string): Entry {
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
    { caller, expiresAt }: VerifiedToken,
    audience: string,
    signer: SigningKey,
  ): Promise<Written> {
    const issuedAt = Math.floor(now())
    const ends = Math.min(issuedAt + lifetimeSeconds, Math.ceil(expiresAt))
    const text = await new SignJWT({
      role_key: caller.roleKey,
      role_id: caller.roleId,
      role_name: caller.roleName,
      data_scope: caller.dataScope,
      name: caller.username,
    })
      .setProtectedHeader({ alg: signer.algorithm, typ: assertionType, kid: signer.kid ?? '' })
      .setIssuer(issuer)
      .setAudience(audience)
      .setSubject(caller.userId)
      .setIssuedAt(issuedAt)
      .setExpirationTime(ends)
      .sign(signer.signer)
    // Where the token ends first, a fresh one would end no later.
    const isLast = ends < issuedAt + lifetimeSeconds
    return {
      text,
      signer,
      renewAt: isLast ? ends : issuedAt + lifetimeSeconds / 2,
      staleAt: isLast ? ends : issuedAt + lifetimeSeconds * 0.75,
    }
  }

  function sign(entry: Entry, token: VerifiedToken, audience: string, signer: SigningKey) {
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
    if (signer === undefined) throw new Fault('keys', { reason: 'no key here signs for others' })
    const entry = entryOf(token, audience)
    const { written } = entry
    const at = now()
    if (written === undefined || !isSame(written.signer, signer) || at >= written.staleAt) {
      return sign(entry, token, audience, signer)
    }
    // Should that fail, the request for which this one is too old learns of it.
    if (at >= written.renewAt) sign(entry, token, audience, signer).then(undefined, () => {})
    return written.text
  }
}

/** A reload reads the same files into other objects. */
function isSame(one: SigningKey, other: SigningKey): boolean {
  return one === other || (one.identity === other.identity && one.kid === other.kid)
}

/** Looks once at each set of keys. */
function createSignerFinder(): typeof assertionSigner {
  let last: { readonly keys: KeySet; readonly signer: SigningKey | undefined } | undefined
  return (keys) => {
    if (last?.keys !== keys) last = { keys, signer: assertionSigner(keys) }
    return last.signer
  }
}

/**
 * The key for assertions: the one that signs tokens if others can verify by it, else the only such
 * key here. Never a shared secret: whoever can verify by one can make logins with it.
 */
export function assertionSigner({ signer, entries }: KeySet): SigningKey | undefined {
  if (signer?.publicJwk !== undefined) return signer
  const able = entries.flatMap(({ signing }) => (signing?.publicJwk ? [signing] : []))
  return able.length === 1 ? able[0] : undefined
}
