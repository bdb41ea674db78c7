import { basename } from 'node:path'
import type { JWK } from 'jose'
import { Invalid, type Problem } from '../kernel/errors.ts'
import { type KeyEntry, type KeyFile, parseKeyFile, type SecretWeakness } from './key-file.ts'
import type { SigningKey, VerifyingKey } from './keys.ts'
import { WeakKey } from './weak-keys.ts'

/** The active keys. Immutable: a reload creates a new set. */
export interface KeySet {
  /** Signs new tokens. `undefined` with public keys only: no login there. */
  readonly signer: SigningKey | undefined
  readonly entries: readonly KeyEntry[]
  /** The key with this `kid`; without a `kid`, the shared secret. */
  find(kid: string | undefined): VerifyingKey | undefined
  /** The key with this ID, if its private part is loaded. */
  findSigning(kid: string | undefined): SigningKey | undefined
}

export interface KeySetOptions {
  /** The key of `jwt.secret`, when there is one. */
  readonly secret?: SigningKey | undefined
  readonly secretWeakness: SecretWeakness
}

/** The file of a key directory that names the `kid` that signs. */
export const signerFile = 'signer'

/** The key set of a gateway with `jwt.secret` and without a key directory. */
export function secretAlone(secret: SigningKey): KeySet {
  return keySet([], secret, secret)
}

/**
 * Reads a key directory, all or nothing. The signing key is the one that the file `signer` names;
 * otherwise `jwt.secret`; otherwise the only private key. Throws `Invalid` with every problem: an
 * invalid key, duplicate kids or keys, a shared secret beside public keys, an ambiguous, unknown or
 * public signer, no key.
 */
export async function parseKeySet(
  directory: string,
  files: readonly KeyFile[],
  { secret, secretWeakness }: KeySetOptions,
): Promise<KeySet> {
  const problems: Problem[] = []
  const entries: KeyEntry[] = []
  const named = files.find(({ name }) => basename(name) === signerFile)

  for (const file of files) {
    if (file === named) continue
    try {
      entries.push(await parseKeyFile(file, secretWeakness))
    } catch (error) {
      if (!(error instanceof WeakKey)) throw error
      problems.push({ file: file.name, message: error.message })
    }
  }
  problems.push(...confusions(entries))
  if (problems.length > 0) throw new Invalid(problems)
  if (entries.length === 0) {
    const message = 'no keys found; generate one: postern keys generate --out DIR'
    throw new Invalid([{ file: directory, message }])
  }

  return keySet(entries, secret, chooseSigner(directory, { entries, named, secret }))
}

/** The public keys, with which other services verify tokens. */
export function publicJwks({ entries }: KeySet): JWK[] {
  return entries.flatMap(({ key: { publicJwk } }) => (publicJwk === undefined ? [] : [publicJwk]))
}

/** Finds sets in which a token could choose between keys, or a rotation would change nothing. */
export function confusions(entries: readonly KeyEntry[]): Problem[] {
  const kids = new Map<string, KeyEntry>()
  const thumbprints = new Map<string, KeyEntry>()
  const problems: Problem[] = []
  for (const entry of entries) {
    const { kid, file, thumbprint } = entry
    const sameKid = kids.get(kid)
    const sameKey = thumbprints.get(thumbprint)
    if (sameKid !== undefined) {
      problems.push({ file, message: `same kid as ${basename(sameKid.file)}: keep one of them` })
    } else if (sameKey !== undefined) {
      problems.push({ file, message: `same key as ${basename(sameKey.file)}: keep one of them` })
    }
    kids.set(kid, entry)
    thumbprints.set(thumbprint, entry)
  }

  const shared = entries.filter(({ key }) => key.algorithm === 'HS256')
  if (shared.length === entries.length) return problems
  for (const { file } of shared) {
    problems.push({
      file,
      message: 'shared secret beside public keys: keep shared secrets and key pairs apart',
    })
  }
  return problems
}

function chooseSigner(
  directory: string,
  {
    entries,
    named,
    secret,
  }: { entries: readonly KeyEntry[]; named: KeyFile | undefined; secret: SigningKey | undefined },
): SigningKey | undefined {
  if (named !== undefined) {
    const entry = entries.find(({ kid }) => kid === named.text.trim())
    if (entry?.signing !== undefined) return entry.signing
    const reason = entry === undefined ? 'unknown kid' : 'the named key has no private part'
    throw new Invalid([{ file: named.name, message: `${reason}: write the kid of a private key` }])
  }
  if (secret !== undefined) return secret

  const able = entries.flatMap(({ signing }) => (signing === undefined ? [] : [signing]))
  if (able.length <= 1) return able[0]
  const kids = able.map(({ kid }) => kid).join(', ')
  const message = `${able.length} keys can sign (${kids}): choose one with postern keys use KID ${directory}`
  throw new Invalid([{ file: directory, message }])
}

function keySet(
  entries: readonly KeyEntry[],
  secret: SigningKey | undefined,
  signer: SigningKey | undefined,
): KeySet {
  const byKid = new Map(entries.map((entry) => [entry.kid, entry]))
  return {
    signer,
    entries,
    find: (kid) => (kid === undefined ? secret : byKid.get(kid)?.key),
    findSigning: (kid) => (kid === undefined ? secret : byKid.get(kid)?.signing),
  }
}
