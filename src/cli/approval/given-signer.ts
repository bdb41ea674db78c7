import { decline } from '../../operations/declined.ts'
import { fingerprintOf } from '../../signing/ssh-public-key.ts'
import { armored, isGoodSignature, parseSignature } from '../../signing/ssh-signature.ts'
import { namespaceOf } from '../../signing/statement.ts'
import type { Trust } from '../../signing/trust.ts'
import type { Signer } from '../publish/signing.ts'

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
