import { Fault, Refusal } from '../../../kernel/errors.ts'

/**
 * What openid-client finds wrong with an answer of the provider to this login: a code that was used, or an
 * ID token that is not valid. Everything else is an outage or a mistake in the configuration, which must not
 * look like wrong credentials.
 */
const refusedCodes: ReadonlySet<unknown> = new Set([
  'OAUTH_INVALID_RESPONSE',
  'OAUTH_JWT_CLAIM_COMPARISON_FAILED',
  'OAUTH_JWT_TIMESTAMP_CHECK_FAILED',
  'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED',
  'OAUTH_KEY_SELECTION_FAILED',
  'OAUTH_UNSUPPORTED_OPERATION',
])

/** What the provider sent is not valid. */
export function providerRefused(reason: string): Refusal {
  return new Refusal('provider-refused', { reason })
}

/** The error of a failed exchange, as a Refusal or a Fault without any part of a token. */
export function exchangeFailure(provider: string, error: unknown): Refusal | Fault {
  if (error instanceof Refusal || error instanceof Fault) return error
  const { code, error: answered, cause } = (error ?? {}) as Readonly<Record<string, unknown>>
  if (answered === 'invalid_grant') {
    return providerRefused(`provider ${provider} refused the code`)
  }
  if (typeof answered === 'string') {
    const shown = /^[a-z_]{1,64}$/.test(answered) ? answered : 'an unknown error'
    // Keycloak answers `unauthorized_client` to a wrong secret.
    const isClient = shown === 'invalid_client' || shown === 'unauthorized_client'
    const hint = isClient ? ': check clientId, the client secret and clientAuth' : ''
    return new Fault('identity-provider', {
      reason: `provider ${provider} answered ${shown}${hint}`,
    })
  }
  if (refusedCodes.has(code)) return providerRefused(`answer of ${provider}: ${detail(error)}`)
  const why = cause instanceof Error && code === undefined ? cause : error
  return new Fault('identity-provider', { reason: `provider ${provider}: ${detail(why)}` })
}

/** Never the message of a parser, which quotes what it could not read: that may be a token. */
function detail(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error'
  const { code } = error as NodeJS.ErrnoException
  const inner = error.cause
  const isFixedText = inner instanceof Error && inner.name === 'OperationProcessingError'
  const text = `${error.message || (code ?? 'unreachable')}${isFixedText ? ` (${inner.message})` : ''}`
  return text.slice(0, 300)
}
