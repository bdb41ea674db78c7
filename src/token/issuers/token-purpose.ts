import { isRecord } from '../../kernel/json.ts'
import { parseCompactForm } from '../compact-form.ts'

/**
 * What a JWT was issued for. One issuer signs all of its kinds with the same keys, so each use must refuse
 * the other kinds (RFC 8725 3.11 and 3.12).
 */
type Claims = Readonly<Record<string, unknown>>

/** `typ` of a header: `application/` may be left out, and case has no meaning (RFC 7515 4.1.9). */
export function shortType(typ: unknown): string | undefined {
  if (typ === undefined) return undefined
  return lowerCase(typ).replace(/^application\//, '')
}

/** Empty if it is not a text. */
function lowerCase(value: unknown): string {
  return typeof value === 'string' ? value.toLowerCase() : ''
}

/** The claims in which Keycloak and Cognito say what a token is. */
const usageClaims = ['typ', 'token_use'] as const
const accessUses: ReadonlySet<string> = new Set(['bearer', 'dpop', 'access'])
const otherUses: ReadonlySet<string> = new Set(['refresh', 'offline', 'logout'])

/** Defined for ID tokens only: OpenID Connect Core 2 and 3.3.2.11, and FAPI 1.0 part 2. */
const idTokenClaims = ['nonce', 'at_hash', 'c_hash', 's_hash'] as const

/**
 * Which other kind of token this is, and by which claim; `undefined` if it can be an access token. Keycloak
 * before version 25 writes `nonce` into access tokens too, so a token that says what it is comes first.
 */
export function otherPurpose(
  typ: unknown,
  claims: Claims,
  acceptIdTokens: boolean,
): string | undefined {
  const uses = usageClaims.map((name) => [name, lowerCase(claims[name])] as const)
  const other = uses.find(([, use]) => otherUses.has(use))
  if (other !== undefined) return `a ${other[1]} token (claim ${other[0]})`
  if (hasLogoutEvent(claims)) return 'a logout token (claim events)'
  if (acceptIdTokens) return undefined
  const mark =
    uses.find(([, use]) => use === 'id')?.[0] ??
    (shortType(typ) === 'at+jwt' || uses.some(([, use]) => accessUses.has(use))
      ? undefined
      : idTokenClaims.find((name) => Object.hasOwn(claims, name)))
  return mark && `an ID token (claim ${mark})`
}

/**
 * Why this verified token is not an ID token, or `undefined`. Providers write JWT, their own type or none,
 * so only a registered type of another purpose is refused: at+jwt, logout+jwt and their like.
 */
export function notIdToken(text: string, claims: Claims): string | undefined {
  const typ = shortType(parseCompactForm(text, text.length)?.header['typ']) ?? 'jwt'
  const isOther = typ === '' || (typ.endsWith('+jwt') && !typ.startsWith('id'))
  return isOther
    ? `a token of typ ${JSON.stringify(typ.slice(0, 64))}`
    : otherPurpose(typ, claims, true)
}

const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout'

/** OpenID Connect Back-Channel Logout 1.0, 2.4. */
export function hasLogoutEvent({ events }: Claims): boolean {
  if (typeof events !== 'object' || events === null) return false
  const event = (events as Claims)[logoutEvent]
  return isRecord(event)
}
