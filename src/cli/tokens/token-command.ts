import { configuredKeys, type TokenSettings } from '../../operations/tokens/configured-keys.ts'
import { type Inspection, inspectToken } from '../../token/inspect.ts'
import type { Io } from '../io.ts'
import { withForeignKeys } from './foreign-token.ts'

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
