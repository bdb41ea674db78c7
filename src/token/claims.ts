import { Refusal } from '../kernel/errors.ts'
import type { Caller } from './caller.ts'
import { type CarriedClaims, carriedIn } from './carried-claims.ts'
import { parseObject } from './compact-form.ts'
import { domainIn } from './domain-claim.ts'

/** Who a token of ours is for: a person who logged in, or a program. */
export type OwnKind = 'user' | 'service'

/**
 * The payload as existing services of the product family read it: ids are JSON numbers, written
 * digit for digit so that none above 2^53 is rounded.
 */
export function writePayload(
  caller: Caller,
  times: { issuedAt: number; expiresAt: number; tokenId: string },
  kind: OwnKind = 'user',
  claims?: CarriedClaims,
): Uint8Array {
  const payload = JSON.stringify({
    claims,
    datascope: caller.dataScope,
    exp: times.expiresAt,
    identity: exactNumber(caller.userId),
    jti: times.tokenId,
    // Absent for people: services that read the payload know it without this claim.
    kind: kind === 'user' ? undefined : kind,
    nice: caller.username,
    orig_iat: times.issuedAt,
    roleid: exactNumber(caller.roleId),
    rolekey: caller.roleKey,
    rolename: caller.roleName,
  })
  return new TextEncoder().encode(payload)
}

/** Reads a payload with a verified signature. Refuses the token if a claim has the wrong type. */
export function readPayload(payload: Uint8Array, domainClaim?: string) {
  const claims = parseObject(payload, keepDigits)
  if (claims === undefined) throw invalidToken('the payload is not a JSON object')

  return {
    caller: {
      userId: id(claims, 'identity'),
      roleId: id(claims, 'roleid'),
      roleKey: text(claims, 'rolekey', 1),
      username: text(claims, 'nice', 0),
      dataScope: text(claims, 'datascope', 0),
      roleName: optionalText(claims, 'rolename') ?? '',
    },
    expiresAt: timeClaim(claims, 'exp') ?? missing('exp'),
    notBefore: timeClaim(claims, 'nbf'),
    issuedAt: timeClaim(claims, 'orig_iat') ?? timeClaim(claims, 'iat'),
    tokenId: optionalText(claims, 'jti'),
    kind: kindOf(claims),
    // Casbin's domain.
    ...domainIn(claims, domainClaim),
    ...carriedIn(claims['claims']),
  }
}

type RawClaims = Readonly<Record<string, unknown>>

/** Ids come out of JSON.parse as text: a double cannot hold every 64-bit number. */
function keepDigits(key: string, value: unknown, context: { source?: string }): unknown {
  if (key !== 'identity' && key !== 'roleid') return value
  return typeof value === 'number' ? (context.source ?? String(value)) : undefined
}

function exactNumber(digits: string): unknown {
  return rawJson(digits)
}

/** `JSON.rawJSON` is in the runtime (V8 11.4) but not yet in the type library. */
const rawJson = (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON

function id(claims: RawClaims, name: string): string {
  const value = claims[name]
  if (typeof value !== 'string' || !/^(?:0|[1-9]\d{0,18})$/.test(value)) {
    throw invalidToken(`${name} is not a whole number`)
  }
  return value
}

function text(claims: RawClaims, name: string, minimum: number): string {
  const value = optionalText(claims, name)
  if (value === undefined || value.length < minimum) throw invalidToken(`${name} is missing`)
  return value
}

function optionalText(claims: RawClaims, name: string): string | undefined {
  const value = claims[name]
  if (value === undefined) return undefined
  if (typeof value !== 'string' || value.length > 512)
    throw invalidToken(`${name} is not a string of at most 512 characters`)
  return value
}

/** Seconds since the epoch (RFC 7519 NumericDate). */
export function timeClaim(claims: RawClaims, name: string): number | undefined {
  const value = claims[name]
  if (value === undefined) return undefined
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) {
    throw invalidToken(`${name} is not a time`)
  }
  return value
}

/** An unknown kind is refused: it may have fewer rights than a user has. */
function kindOf(claims: RawClaims): OwnKind {
  const kind = claims['kind'] ?? 'user'
  if (kind !== 'user' && kind !== 'service') throw invalidToken('kind is neither user nor service')
  return kind
}

function missing(name: string): never {
  throw invalidToken(`${name} is missing`)
}

/** The reason goes to the log only. */
export function invalidToken(reason: string): Refusal {
  return new Refusal('token-invalid', { reason })
}
