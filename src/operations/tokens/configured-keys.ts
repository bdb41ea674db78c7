import { resolve } from 'node:path'
import { secretWeakness } from '../../config/checks/secret-strength.ts'
import { modeFacts } from '../../config/mode.ts'
import { readKeyFiles } from '../../stores/keys/key-files.ts'
import { sharedSecret } from '../../stores/keys/shared-secret.ts'
import { type KeySet, parseKeySet, secretAlone } from '../../token/key-set.ts'
import { accountSettings } from '../configured-database.ts'
import type { Surroundings } from '../context.ts'

/** The configuration, with the paths that commands on tokens need. */
export function tokenSettings(file: string | undefined, surroundings: Surroundings) {
  const settings = accountSettings(file, surroundings)
  const { keyDirectory } = settings.config.jwt
  return {
    ...settings,
    cwd: surroundings.cwd,
    keyDirectory: keyDirectory === undefined ? undefined : resolve(surroundings.cwd, keyDirectory),
  }
}

export type TokenSettings = ReturnType<typeof tokenSettings>

/** The keys that a gateway with this configuration starts with. */
export async function configuredKeys({
  config: { application, jwt },
  directory: dataDirectory,
  keyDirectory,
}: TokenSettings): Promise<KeySet> {
  const { weakSecretAllowed: weakAllowed } = modeFacts(application.mode, jwt.timeout)
  const secret = await sharedSecret(jwt, { dataDirectory, weakAllowed })
  if (keyDirectory !== undefined) {
    return parseKeySet(keyDirectory, await readKeyFiles(keyDirectory), { secret, secretWeakness })
  }
  if (secret === undefined) throw new Error('neither a key directory nor a secret')
  return secretAlone(secret)
}
