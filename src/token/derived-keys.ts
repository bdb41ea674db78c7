import { Fault } from '../errors.ts'
import type { KeySet } from './key-set.ts'
import type { SigningKey } from './keys.ts'

/**
 * One secret for what must be found again for as long as possible: of `jwt.secret` where there is
 * one, else of the key that signs, and then another one after a rotation. Throws a Fault where no
 * key can sign.
 */
export function createLastingKey(keys: () => KeySet, purpose: string): () => string {
  return () => (keys().findSigning(undefined) ?? signerOf(keys())).derive(purpose)
}

/** The same, and `undefined` where no key can sign: for what can be left out then. */
export function findLastingKey(keys: () => KeySet, purpose: string): () => string | undefined {
  return () => (keys().findSigning(undefined) ?? keys().signer)?.derive(purpose)
}

/** Secrets for a purpose besides tokens, by the name of the signing key that each comes from. */
export interface DerivedKeys {
  /** Of the key that signs now. Throws a Fault where none can. */
  current(): { readonly id: string; readonly key: string }
  /** Of a key that is here with its private part. */
  find(id: string): string | undefined
}

/**
 * Derives from the keys in force, so that replicas with the same keys agree without asking anybody,
 * and what was made under a key can be checked as long as that key is kept: through a rotation.
 */
export function createDerivedKeys(keys: () => KeySet, purpose: string): DerivedKeys {
  return {
    current() {
      const signer = signerOf(keys())
      return { id: signer.kid ?? '', key: signer.derive(purpose) }
    },
    find: (id) =>
      keys()
        .findSigning(id === '' ? undefined : id)
        ?.derive(purpose),
  }
}

/** The key that signs. Throws a Fault where none can. */
export function signerOf({ signer }: KeySet): SigningKey {
  if (signer === undefined) throw new Fault('keys', { reason: 'no key here can sign' })
  return signer
}
