import { modeFacts, tokenLimits } from '../../config/mode.ts'
import type { Inspection } from '../../token/inspect.ts'
import { excessiveLifetime, limitFor } from '../../token/lifetime.ts'
import { createRevocations } from '../../token/revocations.ts'
import type { VerifiedToken } from '../../token/tokens.ts'
import { withDatabase } from '../configured-database.ts'
import { decline } from '../declined.ts'
import type { DocumentOf, RunOf } from '../operation.ts'
import { type TokenSettings, tokenSettings } from './configured-keys.ts'
import type { tokenInspect } from './descriptions.ts'
import { unknownIssuer } from './foreign-token.ts'
import { inspectWithConfiguredKeys, readToken } from './read-token.ts'
import { readRevocations } from './revoke-tokens.ts'

type Verdict = DocumentOf<typeof tokenInspect>['verdict']

/** Tells everything about a token except its signature. */
export const run: RunOf<typeof tokenInspect> = async ({ token: argument }, context) => {
  const settings = tokenSettings(context.configFile, context)
  const inspection = await inspectWithConfiguredKeys(await readToken(argument, context), settings)
  if (inspection === undefined) {
    return decline('not a JWT: expected three base64url parts separated by dots')
  }
  const { verdict, reason } = await judge(inspection, settings)
  const { header, claims, token, key } = inspection
  const document = {
    verdict,
    ...(reason !== undefined && { reason }),
    key: key === undefined ? null : { kid: key.kid ?? null, alg: key.algorithm },
    ...(token && about(token)),
    ...{ header, claims },
  }
  if (verdict === 'good') return { document }
  return { document, outcome: verdict === 'unknown' ? 'unavailable' : 'no' }
}

function about({ id, kind, issuer, caller, issuedAt, expiresAt }: VerifiedToken) {
  const times = { issuedAt: time(issuedAt), expiresAt: time(expiresAt * 1000) }
  return { id, kind, ...(issuer !== undefined && { issuer }), caller, ...times }
}

async function judge(
  inspection: Inspection,
  settings: TokenSettings,
): Promise<{ readonly verdict: Verdict; readonly reason: string | undefined }> {
  const { token, problem, isUnverified } = inspection
  if (isUnverified) return { verdict: 'unknown', reason: problem }
  if (token === undefined) {
    const unknown = unknownIssuer(inspection.claims['iss'], settings.config)
    return { verdict: 'not ours', reason: unknown ?? problem }
  }
  const at = Date.now() / 1000
  if (token.expiresAt <= at) return { verdict: 'expired', reason: undefined }
  if (token.kind === 'service' && !settings.config.tokens.service.enabled) {
    return { verdict: 'not accepted', reason: 'tokens.service.enabled is false' }
  }
  // Tokens of other issuers have a limit of their own, and are not verified beyond it.
  const reason = token.kind === 'issuer' ? undefined : lifetimeReason(token, settings, at)
  if (reason !== undefined) return { verdict: 'too long-lived', reason }
  const earliest = token.issuedAt / 1000 - settings.config.jwt.clockSkewSeconds
  if (at < Math.max(earliest, token.notBefore ?? 0)) {
    return { verdict: 'not valid yet', reason: undefined }
  }
  try {
    const known = createRevocations(Date.now)
    await readRevocations(known, settings, withDatabase)
    const isRevoked = known.check(token) === 'revoked'
    return { verdict: isRevoked ? 'revoked' : 'good', reason: undefined }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return { verdict: 'unknown', reason: `cannot check whether it is revoked: ${why}` }
  }
}

function lifetimeReason(
  token: VerifiedToken,
  { config }: TokenSettings,
  at: number,
): string | undefined {
  const { application, jwt } = config
  const limits = tokenLimits(modeFacts(application.mode, jwt.timeout), config)
  const kind = token.kind === 'service' ? 'service' : 'user'
  const limit = limitFor(kind, limits)
  const lifetime = excessiveLifetime(token, limit, at)
  if (lifetime === undefined) return undefined
  const { setting, hint } = kind === 'service' ? serviceLimit : userLimit(jwt)
  const why = token.expiresAt >= millisecondsFrom ? 'exp is not in seconds since 1970' : hint
  return `lifetime is ${lifetime} s, but ${setting} allows ${limit.maxLifetimeSeconds} s: ${why}`
}

const serviceLimit = {
  setting: 'tokens.service.maxLifetime',
  hint: 'issued while it was longer; issue a new token, or raise it',
}

function userLimit({ maxLifetimeSeconds }: { readonly maxLifetimeSeconds?: number }) {
  return {
    setting: maxLifetimeSeconds === undefined ? 'jwt.timeout' : 'jwt.maxLifetimeSeconds',
    hint: 'issued in mode dev, by another issuer, or with a longer jwt.timeout; raise jwt.maxLifetimeSeconds to accept it',
  }
}

/** The year 5138 in seconds; as milliseconds, the year 1973. */
const millisecondsFrom = 1e11

function time(ms: number): string {
  const date = new Date(ms)
  return Number.isNaN(date.getTime()) ? 'never' : date.toISOString()
}
