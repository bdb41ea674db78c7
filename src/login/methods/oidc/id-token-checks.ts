import { createHash } from 'node:crypto'
import { notIdToken } from '../../../token/issuers/token-purpose.ts'
import { providerRefused } from './exchange-failure.ts'
import type { ConfirmedLogin } from './provider.ts'
import type { OidcSettings } from './settings.ts'

/** Clocks of providers differ from ours. */
const skewSeconds = 60

/** In seconds since the epoch. */
interface LoginTimes {
  readonly startedAt: number
  readonly now: number
  /** Whether the provider had to ask for credentials again. */
  readonly asksAgain: boolean
}

/**
 * The checks of OpenID Connect Core 3.1.3.7 and 3.1.3.8 that openid-client leaves out. `startedAt`:
 * when this login began.
 */
export function checkIdToken(
  { claims, idToken, accessToken }: ConfirmedLogin,
  settings: Pick<OidcSettings, 'clientId' | 'idTokenAlgorithm' | 'requiredAcr'>,
  { startedAt, now, asksAgain }: LoginTimes,
): void {
  const { clientId, idTokenAlgorithm, requiredAcr } = settings
  const { azp, iat, at_hash: accessTokenHash, acr, auth_time: authTime } = claims
  const other = notIdToken(idToken, claims)
  if (other !== undefined) throw providerRefused(`the ID token is ${other}`)
  if (azp !== undefined && azp !== clientId)
    throw providerRefused('azp of the ID token is another client')
  if (typeof iat !== 'number') throw providerRefused('the ID token has no iat')
  if (iat > now + skewSeconds) throw providerRefused('the ID token is issued in the future')
  if (iat < startedAt - skewSeconds) throw providerRefused('the ID token is older than this login')
  if (accessTokenHash !== undefined && accessTokenHash !== hashOf(accessToken, idTokenAlgorithm)) {
    throw providerRefused('at_hash of the ID token does not fit the access token')
  }
  // Some providers ignore `prompt`: only this claim shows that they asked (Core 3.1.3.7, 13).
  if (asksAgain && !(typeof authTime === 'number' && authTime >= startedAt - skewSeconds)) {
    throw providerRefused('auth_time of the ID token is missing or older than this login')
  }
  if (requiredAcr !== undefined && !requiredAcr.some((one) => one === acr)) {
    throw providerRefused('acr of the ID token is not one of requiredAcr')
  }
}

/** The left half of the hash that the algorithm of the signature uses (Core 3.1.3.6). */
function hashOf(accessToken: string, algorithm: string): string {
  const name = algorithm === 'EdDSA' ? 'sha512' : `sha${algorithm.slice(2)}`
  const digest = createHash(name).update(accessToken).digest()
  return digest.subarray(0, digest.length / 2).toString('base64url')
}
