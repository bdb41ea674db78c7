import { Fault } from '../kernel/errors.ts'
import type { KeySet } from './key-set.ts'
import type { SigningKey } from './keys.ts'

/**
 * A secret for data that must be found again as long as possible: derived from `jwt.secret` if set,
 * otherwise from the signing key, and then different after a rotation. Throws a Fault without a
 * signing key.
 */
export function createLastingKey(keys: () => KeySet, purpose: string): () => string {
  return () => (keys().findSigning(undefined) ?? signerOf(keys())).derive(purpose)
}

/** `createLastingKey` that returns `undefined` without a signing key, for optional data. */
export function findLastingKey(keys: () => KeySet, purpose: string): () => string | undefined {
  return () => (keys().findSigning(undefined) ?? keys().signer)?.derive(purpose)
}

/** Secrets for a purpose other than tokens, by the id of the signing key. */
export type DerivedKeys = ReturnType<typeof createDerivedKeys>

/**
 * Derives from the active keys, so that replicas with the same keys agree without communication, and
 * data made under a key can be checked until that key is removed, also after a rotation.
 */
export function createDerivedKeys(keys: () => KeySet, purpose: string) {
  return {
    /** From the current signing key. Throws a Fault without one. */
    current() {
      const signer = signerOf(keys())
      return { id: signer.kid ?? '', key: signer.derive(purpose) }
    },
    /** From a key whose private part is loaded. */
    find: (id: string) =>
      keys()
        .findSigning(id === '' ? undefined : id)
        ?.derive(purpose),
  }
}

/** The signing key. Throws a Fault without one. */
export function signerOf({ signer }: KeySet): SigningKey {
  if (signer === undefined)
    throw new Fault('keys', { reason: 'no private key to sign tokens with' })
  return signer
}
