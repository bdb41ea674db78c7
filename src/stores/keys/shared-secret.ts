import { type SigningKey, secretKey } from '../../token/keys.ts'
import { generatedSecret } from './generated-secret.ts'

interface SharedSecretSettings {
  readonly secret?: string
  readonly keyDirectory?: string
}

/**
 * The key of `jwt.secret`, if there is one. A secret is made up only where nobody configured
 * anything to sign with, and a short one is taken only where the mode allows it.
 */
export async function sharedSecret(
  { secret, keyDirectory }: SharedSecretSettings,
  { dataDirectory, weakAllowed }: { dataDirectory: string; weakAllowed: boolean },
): Promise<SigningKey | undefined> {
  if (secret === undefined && keyDirectory !== undefined) return undefined
  return secretKey(secret ?? (await generatedSecret(dataDirectory)), weakAllowed ? 1 : 32)
}
