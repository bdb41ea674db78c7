import { createPrivateKey, createPublicKey, type JsonWebKey } from 'node:crypto'
import { basename } from 'node:path'
import { CompactSign, calculateJwkThumbprint, compactVerify, type JWK } from 'jose'
import { parseObject } from './compact-form.ts'
import { type SigningKey, signingKey, verifyingKey } from './keys.ts'
import { WeakKey } from './weak-keys.ts'

/** A file of a key directory. */
export interface KeyFile {
  /** The path for messages. */
  readonly name: string
  readonly text: string
}

/** A key that is named by its file. */
export type KeyEntry = Awaited<ReturnType<typeof parseKeyFile>>

/** Why a shared secret must not be used, for example because it is published; or `undefined`. */
export type SecretWeakness = (secret: string) => string | undefined

/** A valid `kid`: usable as a file name and as a key of a Kubernetes Secret. */
export const kidForm = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

/** The `kid` of `2026-11.pem` or `2026-11.jwk`; `undefined` for a file that is named otherwise. */
export function kidOfFile(name: string): string | undefined {
  const kid = /^(.+)\.(?:pem|jwk)$/.exec(basename(name))?.[1]
  return kid !== undefined && kidForm.test(kid) ? kid : undefined
}

/**
 * Reads `<kid>.pem` or `<kid>.jwk`. Throws `WeakKey` if the key is unreadable, too weak or encrypted,
 * if the file has more than one key, or if its `kid` differs from the file name.
 */
export async function parseKeyFile({ name, text }: KeyFile, secretWeakness: SecretWeakness) {
  const kid = kidOfFile(name)
  if (kid === undefined) throw new WeakKey('unexpected file name: use <kid>.pem or <kid>.jwk')

  const jwk = { ...(name.endsWith('.pem') ? fromPem(text) : fromJson(text)), kid }
  if (jwk.kty === 'oct') refuseGuessable(jwk, secretWeakness)
  const signing = await signingKey(jwk)
  if (signing !== undefined) await refuseMismatch(signing)
  const key = signing ?? (await verifyingKey(jwk))
  // RFC 7638. For a shared secret it is a digest of the secret: do not show it.
  const thumbprint = await calculateJwkThumbprint(key.publicJwk ?? jwk)
  return { kid, file: name, key, signing, thumbprint }

  function fromJson(json: string): JsonWebKey & JWK {
    const object = parseObject(new TextEncoder().encode(json)) as (JsonWebKey & JWK) | undefined
    if (object === undefined || typeof object.kty !== 'string') {
      throw new WeakKey('not a JWK: expected one JSON object with "kty"')
    }
    if (object.kid !== undefined && object.kid !== kid) {
      throw new WeakKey('"kid" differs from the file name')
    }
    return object
  }
}

/** Skips `EC PARAMETERS`, which OpenSSL writes before the key. */
const pemBlock = /-----BEGIN (?!EC PARAMETERS)([A-Z0-9 ]+)-----[^-]*-----END \1-----/g

function fromPem(text: string): JsonWebKey & JWK {
  const [block, ...more] = [...text.matchAll(pemBlock)]
  const kind = block?.[1] ?? ''
  if (block === undefined) throw new WeakKey('not a PEM file')
  if (more.length > 0) throw new WeakKey('contains more than one key: use one file for each key')
  if (kind.startsWith('ENCRYPTED') || block[0].includes('ENCRYPTED')) {
    throw new WeakKey('the key is encrypted: store it decrypted, readable only by its owner')
  }
  if (!/^(?:(?:RSA |EC )?PRIVATE|(?:RSA )?PUBLIC) KEY$/.test(kind)) {
    throw new WeakKey(`contains a ${kind}: expected a private or public key`)
  }
  try {
    const key = kind.endsWith('PRIVATE KEY') ? createPrivateKey(text) : createPublicKey(text)
    return key.export({ format: 'jwk' }) as JsonWebKey & JWK
  } catch {
    throw new WeakKey('the key is unreadable or of an unsupported type')
  }
}

function refuseGuessable({ k = '' }: JWK, secretWeakness: SecretWeakness): void {
  const weakness = secretWeakness(Buffer.from(k, 'base64url').toString('latin1'))
  if (weakness !== undefined) throw new WeakKey(`the secret ${weakness}`)
}

/** Rejects a private part that does not match its public part: its signatures would not verify. */
async function refuseMismatch({ algorithm, key, signer }: SigningKey): Promise<void> {
  try {
    const proof = await new CompactSign(new Uint8Array(1))
      .setProtectedHeader({ alg: algorithm })
      .sign(signer)
    await compactVerify(proof, key, { algorithms: [algorithm] })
  } catch {
    throw new WeakKey('the private and public parts do not match')
  }
}
