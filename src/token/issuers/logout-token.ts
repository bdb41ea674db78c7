import { Refusal } from '../../kernel/errors.ts'
import { type CompactToken, parseCompactForm, parseObject } from '../compact-form.ts'
import { bringsKey, isSignedBy } from '../tokens.ts'
import type { IssuerAlgorithm } from './issuer.ts'
import type { IssuerKeySet } from './issuer-key-set.ts'
import { hasLogoutEvent, shortType } from './token-purpose.ts'

/** Which sessions ended at a provider: one, or all of a user. */
export type EndedSession = Awaited<ReturnType<typeof verifyLogoutToken>>

interface LogoutTokenParts {
  readonly issuer: string
  readonly clientId: string
  readonly idTokenAlgorithm: IssuerAlgorithm
  readonly keys: () => Promise<IssuerKeySet>
  /** Fetches keys that may be newer. */
  readonly refresh: () => Promise<unknown>
  /** Seconds since the epoch. */
  readonly now: () => number
}

const maxBytes = 16_384
/** Providers send it at once, and may repeat it a few times. */
const maxAgeSeconds = 300
const skewSeconds = 60

/** Verifies a logout token (OpenID Connect Back-Channel Logout 1.0, 2.6), except that it is used once. */
export async function verifyLogoutToken(text: string, parts: LogoutTokenParts) {
  const compact = parseCompactForm(text, maxBytes)
  const claims = parseObject(compact?.payload)
  if (compact === undefined || claims === undefined) throw bad('it is not a JWT')
  await checkSignature(text, compact.header, parts)

  const { iss, aud, iat, exp, jti, sub, sid, nonce } = claims
  const { issuer, clientId } = parts
  const now = parts.now()
  if (iss !== issuer) throw bad('it is of another issuer')
  if (![aud].flat().includes(clientId)) throw bad('it is for another client')
  if (typeof iat !== 'number' || iat > now + skewSeconds) throw bad('iat is missing or ahead')
  if (iat < now - maxAgeSeconds) throw bad('it is too old')
  // Required since the final version of the standard; some providers leave it out.
  if (exp !== undefined && (typeof exp !== 'number' || exp < now - skewSeconds)) {
    throw bad('it has expired')
  }
  // An ID token of the same provider must not end a session.
  if (nonce !== undefined) throw bad('it has a nonce')
  if (!hasLogoutEvent(claims)) throw bad('it has no logout event')
  if (!isText(jti)) throw bad('jti is missing')
  if (sub === undefined && sid === undefined) throw bad('it has neither sub nor sid')
  // Left out, an unreadable sid would end every session of the user.
  if (!isTextOrUnset(sub) || !isTextOrUnset(sid)) throw bad('sub or sid is not a short text')
  return { tokenId: jti, subject: sub, session: sid, expiresAt: iat + maxAgeSeconds + skewSeconds }
}

/** `typ` is recommended, not required (2.4): some providers send JWT, or none. */
const types: ReadonlySet<unknown> = new Set([undefined, 'jwt', 'logout+jwt'])

async function checkSignature(
  text: string,
  header: CompactToken['header'],
  { keys, refresh, idTokenAlgorithm }: LogoutTokenParts,
): Promise<void> {
  const { typ, alg, kid } = header
  if (!types.has(shortType(typ))) throw bad('its typ is not logout+jwt')
  if (bringsKey(header)) throw bad('its header brings a key or an extension')
  if (alg !== idTokenAlgorithm) throw bad('its algorithm is not accepted')
  if (kid !== undefined && typeof kid !== 'string') throw bad('kid is not a text')
  let key = (await keys()).choose(kid, alg)
  if (key === 'unknown') {
    await refresh()
    key = (await keys()).choose(kid, alg)
  }
  if (key === undefined || key === 'unknown') throw bad('no key for its header')
  if (!(await isSignedBy(text, key))) throw bad('its signature is wrong')
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= 255
}

function isTextOrUnset(value: unknown): value is string | undefined {
  return value === undefined || isText(value)
}

function bad(reason: string): Refusal {
  return new Refusal('bad-logout-token', { reason })
}
