import { createPrivateKey, createPublicKey, type JsonWebKey } from 'node:crypto'
import { basename } from 'node:path'
import { CompactSign, calculateJwkThumbprint, compactVerify, type JWK } from 'jose'
import { parseObject } from './compact-form.ts'
import { type SigningKey, signingKey, type VerifyingKey, verifyingKey } from './keys.ts'
import { WeakKey } from './weak-keys.ts'

/** A file of a key directory. */
export interface KeyFile {
  /** With the path that messages show. */
  readonly name: string
  readonly text: string
}

/** A key that has a name: that of its file. */
export interface KeyEntry {
  readonly kid: string
  readonly file: string
  readonly key: VerifyingKey
  /** The same key, when the file has its private part. */
  readonly signing: SigningKey | undefined
  /** RFC 7638. Of a shared secret it is a digest of the secret, and not to be shown. */
  readonly thumbprint: string
}

/** Why a shared secret must not be used, such as that it is published; `undefined` when it may. */
export type SecretWeakness = (secret: string) => string | undefined

/** What a `kid` may look like: what is a file name everywhere, and a key of a Kubernetes Secret. */
export const kidForm = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

/** The `kid` of `2026-11.pem` or `2026-11.jwk`; `undefined` for a file that is named otherwise. */
export function kidOfFile(name: string): string | undefined {
  const kid = /^(.+)\.(?:pem|jwk)$/.exec(basename(name))?.[1]
  return kid !== undefined && kidForm.test(kid) ? kid : undefined
}

/**
 * Reads `<kid>.pem` or `<kid>.jwk`. Throws `WeakKey` for whatever cannot be read, is too weak, is
 * encrypted, is more than one key, or says that it has another `kid`.
 */
export async function parseKeyFile(
  { name, text }: KeyFile,
  secretWeakness: SecretWeakness,
): Promise<KeyEntry> {
  const kid = kidOfFile(name)
  if (kid === undefined) throw new WeakKey('is not named <kid>.pem or <kid>.jwk')

  const jwk = { ...(name.endsWith('.pem') ? fromPem(text) : fromJson(text)), kid }
  if (jwk.kty === 'oct') refuseGuessable(jwk, secretWeakness)
  const signing = await signingKey(jwk)
  if (signing !== undefined) await refuseStrangers(signing)
  const key = signing ?? (await verifyingKey(jwk))
  const thumbprint = await calculateJwkThumbprint(key.publicJwk ?? jwk)
  return { kid, file: name, key, signing, thumbprint }

  function fromJson(json: string): JsonWebKey & JWK {
    const object = parseObject(new TextEncoder().encode(json)) as (JsonWebKey & JWK) | undefined
    if (object === undefined || typeof object.kty !== 'string') {
      throw new WeakKey('is no JWK: one JSON object with a kty')
    }
    if (object.kid !== undefined && object.kid !== kid) {
      throw new WeakKey('names another kid than its file does')
    }
    return object
  }
}

/** Without `EC PARAMETERS`, which OpenSSL writes before the key and which says nothing new. */
const pemBlock = /-----BEGIN (?!EC PARAMETERS)([A-Z0-9 ]+)-----[^-]*-----END \1-----/g

function fromPem(text: string): JsonWebKey & JWK {
  const [block, ...more] = [...text.matchAll(pemBlock)]
  const kind = block?.[1] ?? ''
  if (block === undefined) throw new WeakKey('is no PEM file')
  if (more.length > 0) throw new WeakKey('holds more than one key: one file, one key')
  if (kind.startsWith('ENCRYPTED') || block[0].includes('ENCRYPTED')) {
    throw new WeakKey('is encrypted: store it decrypted, readable by its owner only')
  }
  if (!/^(?:(?:RSA |EC )?PRIVATE|(?:RSA )?PUBLIC) KEY$/.test(kind)) {
    throw new WeakKey(`holds a ${kind}, not a private or public key`)
  }
  try {
    const key = kind.endsWith('PRIVATE KEY') ? createPrivateKey(text) : createPublicKey(text)
    return key.export({ format: 'jwk' }) as JsonWebKey & JWK
  } catch {
    throw new WeakKey('is a key that cannot be read, or of a kind that is not supported')
  }
}

function refuseGuessable({ k = '' }: JWK, secretWeakness: SecretWeakness): void {
  const weakness = secretWeakness(Buffer.from(k, 'base64url').toString('latin1'))
  if (weakness !== undefined) throw new WeakKey(`the secret ${weakness}`)
}

/** Refuses halves that do not belong together: what this key signs, nobody could verify. */
async function refuseStrangers({ algorithm, key, signer }: SigningKey): Promise<void> {
  try {
    const proof = await new CompactSign(new Uint8Array(1))
      .setProtectedHeader({ alg: algorithm })
      .sign(signer)
    await compactVerify(proof, key, { algorithms: [algorithm] })
  } catch {
    throw new WeakKey('its private and its public part do not belong together')
  }
}
