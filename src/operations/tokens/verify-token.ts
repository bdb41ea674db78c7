import { modeFacts, tokenLimits } from '../../config/mode.ts'
import { Fault, Invalid, Refusal } from '../../kernel/errors.ts'
import { createRevocations } from '../../token/revocations.ts'
import { createTokens, type ForeignTokens, type VerifiedToken } from '../../token/tokens.ts'
import { withExistingDatabase } from '../configured-database.ts'
import { configuredKeys, type TokenSettings } from './configured-keys.ts'
import { withForeignKeys } from './foreign-token.ts'
import { readRevocations } from './revoke-tokens.ts'

/** What a gateway with this configuration says about a token: accepted or refused. */
type Verification =
  | {
      readonly token: VerifiedToken
      /** Why the revocation list could not be read; the token counts as not revoked. */
      readonly unread?: string
    }
  | { readonly token?: undefined; readonly refusal: Refusal }

/** Verifies a token with the code and the keys of the gateway. */
export function verifyAsGateway(text: string, settings: TokenSettings): Promise<Verification> {
  return withForeignKeys(text, settings, (foreign) => verifyWith(foreign, text, settings))
}

async function verifyWith(
  foreign: ForeignTokens | undefined,
  text: string,
  settings: TokenSettings,
): Promise<Verification> {
  const { application, jwt, policy } = settings.config
  const mode = modeFacts(application.mode, jwt.timeout)
  const keys = await configuredKeys(settings)
  const revocations = createRevocations(Date.now)
  const { verify, problemOf } = createTokens({
    keys: () => keys,
    revocations,
    lifetimeSeconds: mode.tokenLifetimeSeconds,
    ...tokenLimits(mode, settings.config),
    maxTokenBytes: jwt.maxTokenBytes,
    foreign,
    domainClaim: policy.domain?.claim,
    now: () => Date.now() / 1000,
  })
  try {
    const token = await verify(text)
    // Only now: no store has to be asked about a token that is invalid without it.
    const unread = await whyUnread(() =>
      readRevocations(revocations, settings, withExistingDatabase),
    )
    const problem = problemOf(token)
    if (problem !== undefined) throw problem
    return { token, ...(unread !== undefined && { unread }) }
  } catch (error) {
    if (error instanceof Refusal) return { refusal: error }
    throw error
  }
}

async function whyUnread(read: () => Promise<void>): Promise<string | undefined> {
  try {
    await read()
    return undefined
  } catch (error) {
    if (error instanceof Fault || error instanceof Invalid) return error.message
    throw error
  }
}
