import { fingerprintOf } from '../../signing/ssh-public-key.ts'
import { armored, isGoodSignature, parseSignature } from '../../signing/ssh-signature.ts'
import { createStatement, namespaceOf, type Predecessor } from '../../signing/statement.ts'
import type { Trust } from '../../signing/trust.ts'
import type { PolicyDocument } from '../../stores/policies/policy-store.ts'
import type { LiveState } from '../../stores/policies/proposals/live-state.ts'
import { decline } from '../declined.ts'
import { untrustedHead } from '../policy/versions.ts'

/** A person's key, which counts for the gateways as far as the configuration says. */
export interface Signer {
  /** The name in `policy.trust.keys`; without `policy.trust`, the fingerprint. */
  readonly name: string
  readonly fingerprint: string
  /** The name of the signer, where the configuration vouches for it. */
  readonly trustedName: string | undefined
  sign(statement: string): Promise<string>
}

/**
 * The signer of a signature that was made elsewhere. Declines one that cannot be verified: it would
 * be stored under the name of a key that did not make it.
 */
export function givenSigner(base64: string, trust: Trust | undefined): Signer {
  if (trust === undefined) {
    return decline(
      'refused: without policy.trust, a signature that was made elsewhere cannot be verified',
    )
  }
  const signature = armored(base64)
  const parsed = parseSignature(signature)
  if (parsed === undefined) {
    return decline('refused: --signature is not an SSH signature of an Ed25519 key')
  }
  const fingerprint = fingerprintOf({ id: parsed.keyId })
  const key = trust.keys.find(({ id }) => id === parsed.keyId)
  if (key === undefined) {
    return decline(
      `refused: policy.trust.keys does not list the key that signed (${fingerprint}), so its signature would not count`,
    )
  }
  return {
    ...{ name: key.name, trustedName: key.name, fingerprint },
    async sign(statement) {
      const isMeant = parsed.namespace === namespaceOf('live')
      if (isMeant && isGoodSignature(parsed, statement, key)) return signature
      return decline(
        `refused: ${key.name} signed something else than this proposal: review it and sign again`,
      )
    },
  }
}

/** What to sign to make a document live after another one. */
export function liveStatement(document: PolicyDocument, after: Predecessor | null): string {
  const { author, message, at } = document
  const parts = { purpose: 'live', after, author, message, document, now: new Date(at) } as const
  return createStatement(parts) ?? decline('refused: author and message are too long together')
}

/** What a publisher should know about the signatures of what is live. */
export function signatureNote(
  live: LiveState,
  signer: Signer | undefined,
  signatures: readonly string[] = [],
): string {
  const isUnsigned = signer === undefined && signatures.length === 0
  if (!live.isSigned || !isUnsigned) return untrustedHead(live)
  return 'note: the live policy is signed, and this one is not: gateways with policy.trust will reject it: sign it with --key FILE'
}
