import { resolve } from 'node:path'
import { secretWeakness } from '../../config/checks/secret-strength.ts'
import { modeFacts } from '../../config/mode.ts'
import { readKeyFiles } from '../../stores/keys/key-files.ts'
import { sharedSecret } from '../../stores/keys/shared-secret.ts'
import { type Inspection, inspectToken } from '../../token/inspect.ts'
import { type KeySet, parseKeySet, secretAlone } from '../../token/key-set.ts'
import { accountSettings } from '../configured-database.ts'
import type { Io } from '../io.ts'
import { withForeignKeys } from './foreign-token.ts'

/** The configuration, with the paths that commands on tokens need. */
export function tokenSettings(file: string | undefined, io: Io) {
  const settings = accountSettings(file, io)
  const { keyDirectory } = settings.config.jwt
  return {
    ...settings,
    cwd: io.cwd,
    keyDirectory: keyDirectory === undefined ? undefined : resolve(io.cwd, keyDirectory),
  }
}

export type TokenSettings = ReturnType<typeof tokenSettings>

/** Reads the token; `-` is stdin, which keeps it out of the shell history and the process list. */
export async function readToken(argument: string, io: Io): Promise<string> {
  const text = argument === '-' ? await io.readStdin() : argument
  return text.trim().replace(/^Bearer(?: +|$)/i, '')
}

/** Decodes and verifies a token with the configured keys. */
export async function inspectWithConfiguredKeys(
  text: string,
  settings: TokenSettings,
): Promise<Inspection | undefined> {
  const keys = await configuredKeys(settings)
  const { maxTokenBytes } = settings.config.jwt
  return withForeignKeys(text, settings, (foreign) =>
    inspectToken(text, keys, maxTokenBytes, foreign),
  )
}

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
