import { readDataScope } from '../../kernel/data-scope.ts'
import { claimAt } from '../claim-path.ts'
import { invalidToken, timeClaim } from '../claims.ts'
import type { Issuer } from './issuer.ts'

type RawClaims = Readonly<Record<string, unknown>>

/** `sub` has at most 255 characters (OpenID Connect Core 2). */
const maxIdLength = 255
const maxNameLength = 512
/** Rows of `sys_user` that the caller created: the least that go-admin knows. */
const leastDataScope = '5'

/**
 * Maps claims with a verified signature to a caller. Refuses the token if it is for another audience, has
 * no expiry, no user ID or no role that the configuration maps.
 */
export function readIssuerClaims(claims: RawClaims, issuer: Issuer) {
  if (!isFor(issuer.audience, claims['aud'])) throw invalidToken('it is for another audience')
  const subject = identifier(claimAt(claims, issuer.claims.userId), issuer.claims.userId)
  const { role, dataScope } = mappedRole(claims, issuer)
  return {
    caller: {
      userId: `${issuer.userIdPrefix}${subject}`,
      // Roles of other issuers have no row in sys_role.
      roleId: '0',
      roleKey: role,
      roleName: '',
      username: userName(claims, issuer) ?? subject,
      dataScope: dataScope ?? claimedDataScope(claims, issuer) ?? leastDataScope,
    },
    /** The user ID as the issuer writes it, without our prefix. */
    subject,
    expiresAt: timeClaim(claims, 'exp') ?? missing('exp'),
    notBefore: timeClaim(claims, 'nbf'),
    issuedAt: timeClaim(claims, 'iat'),
    tokenId: tokenId(claims),
  }
}

function isFor(accepted: readonly string[], audience: unknown): boolean {
  const named = Array.isArray(audience) ? audience : [audience]
  return named.some((one) => typeof one === 'string' && accepted.includes(one))
}

function mappedRole(claims: RawClaims, { claims: { roleKey }, roles }: Issuer) {
  const claim = claimAt(claims, roleKey)
  if (claim === undefined) throw invalidToken(`claim ${roleKey} with the role is missing`)
  const held = Array.isArray(claim) ? claim : [claim]
  const found = roles.find(({ value }) => held.includes(value))
  if (found === undefined) throw invalidToken(`no entry of roles matches claim ${roleKey}`)
  return found
}

function claimedDataScope(claims: RawClaims, { claims: { dataScope } }: Issuer) {
  const claim = dataScope === undefined ? undefined : claimAt(claims, dataScope)
  if (claim === undefined) return undefined
  const isText = typeof claim === 'string' || typeof claim === 'number'
  const scope = isText ? readDataScope(String(claim)) : undefined
  if (scope === undefined) throw invalidToken(`claim ${dataScope} is not a data scope`)
  return scope
}

function userName(claims: RawClaims, { claims: { userName: name } }: Issuer): string | undefined {
  const claim = name === undefined ? undefined : claimAt(claims, name)
  if (claim === undefined) return undefined
  if (isPlainText(claim, maxNameLength)) return claim
  throw invalidToken(`claim ${name} is not a text of 1 to ${maxNameLength} characters`)
}

function identifier(claim: unknown, name: string): string {
  const id = Number.isSafeInteger(claim) ? String(claim) : claim
  if (isPlainText(id, maxIdLength)) return id
  throw invalidToken(`claim ${name} is not a user ID of 1 to ${maxIdLength} characters`)
}

function tokenId({ jti }: RawClaims): string | undefined {
  return isPlainText(jti, maxNameLength) ? jti : undefined
}

/** Lone surrogates are refused: two IDs that differ in them become the same header. */
function isPlainText(value: unknown, maxLength: number): value is string {
  if (typeof value !== 'string' || value.length === 0 || value.length > maxLength) return false
  return value.isWellFormed() && !/\p{Cc}/u.test(value)
}

function missing(name: string): never {
  throw invalidToken(`${name} is missing`)
}
