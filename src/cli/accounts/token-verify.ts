import { longestLifetime, modeFacts } from '../../config/mode.ts'
import { Fault, Invalid, Refusal } from '../../errors.ts'
import { createRevocations, type Revocations } from '../../token/revocations.ts'
import { createTokens, type VerifiedToken } from '../../token/tokens.ts'
import { withExistingDatabase } from '../configured-database.ts'
import { readRevocations } from './revoke-tokens.ts'
import { configuredKeys, type TokenSettings } from './token-command.ts'

/** What a gateway with this configuration says about a token: accepted or refused. */
interface Verification {
  readonly token?: VerifiedToken
  readonly refusal?: Refusal
  /** Why the revocation list could not be read; the token counts as not revoked. */
  readonly unread?: string
}

/** Verifies a token with the code and the keys of the gateway. */
export async function verifyAsGateway(
  text: string,
  settings: TokenSettings,
): Promise<Verification> {
  const { application, jwt } = settings.config
  const mode = modeFacts(application.mode, jwt.timeout)
  const keys = await configuredKeys(settings)
  const { revocations, unread } = await knownRevocations(settings)
  const { verify } = createTokens({
    keys: () => keys,
    revocations,
    lifetimeSeconds: mode.tokenLifetimeSeconds,
    maxLifetimeSeconds: longestLifetime(mode, jwt),
    maxTokenBytes: jwt.maxTokenBytes,
    clockSkewSeconds: jwt.clockSkewSeconds,
    now: () => Date.now() / 1000,
  })
  try {
    return { token: await verify(text), ...(unread !== undefined && { unread }) }
  } catch (error) {
    if (error instanceof Refusal) return { refusal: error }
    throw error
  }
}

async function knownRevocations(
  settings: TokenSettings,
): Promise<{ readonly revocations: Revocations; readonly unread?: string }> {
  try {
    return { revocations: await readRevocations(settings, withExistingDatabase) }
  } catch (error) {
    if (!(error instanceof Fault || error instanceof Invalid)) throw error
    return { revocations: createRevocations(Date.now), unread: error.message }
  }
}
