import { modeFacts, tokenLimits } from '../../config/mode.ts'
import { withDatabase } from '../../operations/configured-database.ts'
import { type TokenSettings, tokenSettings } from '../../operations/tokens/configured-keys.ts'
import { readRevocations } from '../../operations/tokens/revoke-tokens.ts'
import type { Inspection } from '../../token/inspect.ts'
import { excessiveLifetime, limitFor } from '../../token/lifetime.ts'
import { createRevocations } from '../../token/revocations.ts'
import type { VerifiedToken } from '../../token/tokens.ts'
import type { Run } from '../command.ts'
import { exitCodes } from '../exit-codes.ts'
import { formatTable, json, printable } from '../format.ts'
import { unknownIssuer } from './foreign-token.ts'
import type { inspectSpec } from './specs.ts'
import { inspectWithConfiguredKeys, readToken } from './token-command.ts'

type Verdict =
  | 'good'
  | 'expired'
  | 'too long-lived'
  | 'not accepted'
  | 'not valid yet'
  | 'revoked'
  | 'not ours'
  | 'unknown'

/** Prints everything about a token except its signature. */
export const tokenInspect: Run<typeof inspectSpec> = async (call, io) => {
  const {
    options,
    arguments: [argument],
  } = call
  const settings = tokenSettings(options.config, io)
  const inspection = await inspectWithConfiguredKeys(await readToken(argument, io), settings)
  if (inspection === undefined) {
    io.err('postern: not a JWT: expected three base64url parts separated by dots\n')
    return exitCodes.no
  }
  const { verdict, reason } = await judge(inspection, settings)
  const { header, claims, token } = inspection
  const times = token && {
    issuedAt: time(token.issuedAt),
    expiresAt: time(token.expiresAt * 1000),
  }
  const key = inspection.key && { kid: inspection.key.kid ?? null, alg: inspection.key.algorithm }
  if (options.output === 'json') {
    const { id, kind, issuer } = token ?? {}
    const caller = kind === 'issuer' ? token?.caller : undefined
    const shown = { id, kind, issuer, caller, ...times }
    io.out(json({ verdict, reason, key: key ?? null, ...shown, header, claims }))
  } else io.out(formatInspection(inspection, { verdict, reason }))
  if (verdict === 'unknown') return exitCodes.unavailable
  return verdict === 'good' ? exitCodes.done : exitCodes.no
}

interface Judged {
  readonly verdict: Verdict
  readonly reason: string | undefined
}

async function judge(inspection: Inspection, settings: TokenSettings): Promise<Judged> {
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
  // Those of other issuers have a limit of their own, and are not verified beyond it.
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

function formatInspection({ key, header, token }: Inspection, { verdict, reason }: Judged): string {
  const signed = key
    ? `${key.algorithm}, ${key.kid ?? 'no kid'}`
    : `not verified (alg ${shownAlgorithm(header['alg'])})`
  const rows = [
    ['verdict', reason === undefined ? verdict : `${verdict}: ${reason}`],
    ['key', signed],
    ...(token === undefined ? [] : about(token)),
  ]
  return formatTable(rows)
}

/** A header may hold anything there, also an object that cannot become a text. */
function shownAlgorithm(algorithm: unknown): string {
  return typeof algorithm === 'string' ? algorithm : (JSON.stringify(algorithm) ?? 'missing')
}

function about(token: VerifiedToken): readonly string[][] {
  const { caller, kind, issuer, id, issuedAt, expiresAt } = token
  return [
    ['user', printable(`${caller.userId} ${caller.username}`)],
    ['role', `${caller.roleId} ${caller.roleKey}`],
    ['data scope', caller.dataScope],
    ['kind', issuer === undefined ? kind : `${kind} ${issuer}`],
    ['issued', time(issuedAt)],
    ['expires', time(expiresAt * 1000)],
    ['id', id],
  ]
}

function time(ms: number): string {
  const date = new Date(ms)
  return Number.isNaN(date.getTime()) ? 'never' : date.toISOString()
}
