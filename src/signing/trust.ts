import { fingerprintOf, type SshPublicKey } from './ssh-public-key.ts'
import { isGoodSignature, parseSignature } from './ssh-signature.ts'
import {
  namespaceOf,
  type Predecessor,
  type Purpose,
  parseStatement,
  type Signed,
  type Statement,
} from './statement.ts'

/** A key of `policy.trust.keys`. */
export interface TrustedKey extends SshPublicKey {
  readonly name: string
}

/** Whose signatures count, and how many a policy needs. */
export interface Trust {
  readonly keys: readonly TrustedKey[]
  readonly signatures: number
}

/** Every reason for which a gateway with `policy.trust` refuses what it finds. */
export const rejections = [
  'unsigned',
  'under-signed',
  'bad-signature',
  'malformed',
  'wrong-purpose',
  'wrong-document',
  'replayed',
  'unknown-predecessor',
] as const
export type RejectionReason = (typeof rejections)[number]

export interface Rejection {
  readonly rejection: RejectionReason
  readonly message: string
}

/** A statement that enough trusted keys signed. */
export interface Verified {
  readonly signed: Signed
  readonly statement: Statement
  /** The names of the trusted keys that signed it, in the order of `policy.trust.keys`. */
  readonly signers: readonly string[]
}

/**
 * Sorts the signatures of a statement by what they are worth. Each key counts once, however often it
 * signed.
 */
export function signersOf({ statement, signatures }: Signed, purpose: Purpose, trust: Trust) {
  const parsed = signatures.map(parseSignature)
  const readable = parsed.filter((signature) => signature !== undefined)
  const meant = readable.filter(({ namespace }) => namespace === namespaceOf(purpose))
  // One try for each key, and none for unknown ones: anyone can add signatures, which take time.
  const first = new Map(meant.toReversed().map((signature) => [signature.keyId, signature]))
  const claimed = trust.keys.filter(({ id }) => first.has(id))
  const trusted = claimed.filter((key) => {
    const signature = first.get(key.id)
    return signature !== undefined && isGoodSignature(signature, statement, key)
  })
  const known = new Set(claimed.map(({ id }) => id))
  return {
    trusted,
    /** Keys that are not trusted and may have signed: their signatures are not verified. */
    unknown: [...first.keys()].filter((id) => !known.has(id)).map((id) => ({ id })),
    /** Signatures that are damaged, or made over another text. */
    bad: parsed.length - readable.length + claimed.length - trusted.length,
    otherPurpose: readable.length - meant.length,
  }
}

/** The statement, if it has this purpose and enough trusted keys signed it; else the reason. */
export function verifySigned(
  signed: Signed | undefined,
  purpose: Purpose,
  trust: Trust,
): Verified | Rejection {
  if (signed === undefined) return reject('unsigned', `not signed: ${needs(trust)}`)
  const statement = parseStatement(signed.statement)
  if (statement === undefined) return reject('malformed', 'its signed statement is malformed')
  if (statement.purpose !== purpose) {
    return reject('wrong-purpose', `signed for ${statement.purpose}, not for ${purpose}`)
  }
  const { trusted, ...others } = signersOf(signed, purpose, trust)
  if (trusted.length >= trust.signatures) {
    return { signed, statement, signers: trusted.map(({ name }) => name) }
  }
  const by = trusted.length === 0 ? '' : ` (${trusted.map(({ name }) => name).join(', ')})`
  const counted = `${trusted.length} of ${trust.signatures} signatures${by}`
  if (others.bad > 0) return reject('bad-signature', `${counted}; ${others.bad} not valid`)
  if (others.otherPurpose > 0) {
    return reject('wrong-purpose', `${counted}; ${others.otherPurpose} made for another purpose`)
  }
  const strangers = others.unknown.slice(0, 3).map(fingerprintOf).join(', ')
  const rest = strangers === '' ? '' : `; policy.trust.keys does not list ${strangers}`
  return reject(signed.signatures.length === 0 ? 'unsigned' : 'under-signed', counted + rest)
}

/** Why a statement is not about this document, if so. */
export function documentMismatch(
  { revision, document }: Statement,
  found: { readonly revision: string; readonly checksum?: string },
): Rejection | undefined {
  if (revision !== found.revision) {
    return reject('wrong-document', `signed for ${revision}, but the head names ${found.revision}`)
  }
  if (found.checksum === undefined || document === found.checksum) return undefined
  return reject('wrong-document', `signed for another document of ${revision}`)
}

/** The statement that this names, if enough trusted keys signed it. */
export type FindSigned = (named: Predecessor) => Verified | undefined

/** Looks among what was stored; verifies only what is asked for, and that once: anyone can store a lot. */
export function findAmong(stored: readonly (Signed | undefined)[], trust: Trust): FindSigned {
  const byName = Map.groupBy(
    stored.filter((each) => each !== undefined),
    ({ statement }) => nameOf(parseStatement(statement)),
  )
  const verified = new Map<string, Verified | undefined>()
  return (named) => {
    const name = nameOf(named)
    if (!verified.has(name)) verified.set(name, firstVerified(byName.get(name) ?? [], trust))
    return verified.get(name)
  }
}

function firstVerified(stored: readonly Signed[], trust: Trust): Verified | undefined {
  for (const signed of stored) {
    const verified = verifySigned(signed, 'live', trust)
    if (!isRejection(verified)) return verified
  }
  return undefined
}

function nameOf(named: Predecessor | undefined): string {
  return named === undefined ? '' : `${named.revision} ${named.serial}`
}

/**
 * Why a statement must not replace the known one, if so. It has to be newer, and to descend from the known
 * one by statements that were signed too: else a proposal that lost to another could still be used, and one
 * signer could name a predecessor that never was, for the others to compare with.
 */
export function staleness(
  { revision, serial, after }: Statement,
  known: Predecessor,
  find: FindSigned,
): Rejection | undefined {
  if (serial <= known.serial) {
    return reject('replayed', `${revision} was signed before ${known.revision}, the active one`)
  }
  let before = after
  for (let above = serial; before !== null && before.serial > known.serial; ) {
    const earlier = before.serial < above ? find(before)?.statement : undefined
    if (earlier === undefined) {
      return reject(
        'unknown-predecessor',
        `${revision} descends from ${before.revision} with serial ${before.serial}, for which no signatures were found; this gateway uses ${known.revision}`,
      )
    }
    above = before.serial
    before = earlier.after
  }
  if (before !== null && nameOf(before) === nameOf(known)) return undefined
  const over = after?.revision ?? 'nothing'
  return reject(
    'replayed',
    `${revision} was signed over ${over}, this gateway uses ${known.revision}`,
  )
}

export function isRejection(value: object): value is Rejection {
  return 'rejection' in value
}

function needs({ signatures }: Trust): string {
  return `policy.trust requires ${signatures === 1 ? 'a signature' : `${signatures} signatures`}`
}

function reject(rejection: RejectionReason, message: string): Rejection {
  return { rejection, message }
}
