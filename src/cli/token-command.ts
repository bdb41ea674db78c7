import { resolve } from 'node:path'
import { loadConfig } from '../config/load.ts'
import { modeFacts } from '../config/mode.ts'
import type { Config } from '../config/schema.ts'
import { type Database, openDatabase } from '../stores/database.ts'
import { generatedSecret } from '../stores/generated-secret.ts'
import { type Inspection, inspectToken } from '../token/inspect.ts'
import { secretKey, type VerifyingKey } from '../token/keys.ts'
import type { Io } from './io.ts'

/** The configuration with the place of its data directory, for a command on tokens. */
export function tokenConfig(file: string | undefined, io: Io) {
  const config = loadConfig({ file, env: io.env, cwd: io.cwd })
  return { config, directory: resolve(io.cwd, config.application.dataDirectory) }
}

export type TokenConfig = ReturnType<typeof tokenConfig>

/** Opens the accounts' database for a piece of work. */
export async function withDatabase<Result>(
  { config, directory }: TokenConfig,
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  const database = await openDatabase({ ...config.database, directory })
  try {
    return await work(database)
  } finally {
    await database.close()
  }
}

/**
 * The token that an argument names: `-` is standard input, so that no token stands in the history
 * of a shell or in the list of processes.
 */
export async function readToken(argument: string, io: Io): Promise<string> {
  const text = argument === '-' ? await io.readStdin() : argument
  return text.trim().replace(/^Bearer +/i, '')
}

/** Takes it apart with the keys of this configuration. */
export async function inspectOurs(
  text: string,
  { config, directory }: TokenConfig,
): Promise<Inspection | undefined> {
  const keys = await configuredKeys(config, directory)
  return inspectToken(text, keys, config.jwt.maxTokenBytes)
}

async function configuredKeys(config: Config, directory: string): Promise<VerifyingKey[]> {
  const { weakSecretAllowed } = modeFacts(config.application.mode, config.jwt.timeout)
  const secret = config.jwt.secret ?? (await generatedSecret(directory))
  return [await secretKey(secret, weakSecretAllowed ? 1 : 32)]
}
