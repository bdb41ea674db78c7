import { type Inspection, inspectToken } from '../../token/inspect.ts'
import type { Context } from '../context.ts'
import { configuredKeys, type TokenSettings } from './configured-keys.ts'
import { withForeignKeys } from './foreign-token.ts'

/** Reads the token; `-` is stdin, which keeps it out of the shell history and the process list. */
export async function readToken(
  argument: string,
  { readStdin }: Pick<Context, 'readStdin'>,
): Promise<string> {
  const text = argument === '-' ? await readStdin() : argument
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
