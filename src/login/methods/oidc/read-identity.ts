import { isUnverifiedEmail } from '../../../token/carried-claims.ts'
import { claimAt } from '../../../token/claim-path.ts'
import type { Identity } from '../../linked-account.ts'
import { providerRefused } from './exchange-failure.ts'
import type { OidcSettings } from './settings.ts'

type ClaimSettings = Pick<OidcSettings, 'name' | 'issuer' | 'claims' | 'roles'>
type Claims = Readonly<Record<string, unknown>>

/** `sub` has at most 255 ASCII characters (OpenID Connect Core 2). */
const subject = /^[\x20-\x7e]{1,255}$/

/** More groups than a token can reasonably carry. */
const mostGroups = 10_000

/** The person that the claims of a verified ID token describe. */
export function readIdentity(claims: Claims, settings: ClaimSettings): Identity {
  const { name: provider, issuer, claims: names, roles } = settings
  const { sub } = claims
  if (typeof sub !== 'string' || !subject.test(sub))
    throw providerRefused('sub of the ID token is not valid')
  const username = textAt(claims, names.username)
  if (username === undefined) {
    throw providerRefused(
      `the ID token has no claim ${names.username}: set claims.username of ${provider}`,
    )
  }
  return {
    ...{ provider, issuer, subject: sub, username },
    hasUnverifiedName: isUnverifiedEmail(claims, names.username),
    displayName: textAt(claims, names.displayName),
    email: textAt(claims, names.email),
    ...(roles && mappedRole(claims, names.groups, roles)),
  }
}

function mappedRole(
  claims: Claims,
  name: string,
  roles: NonNullable<OidcSettings['roles']>,
): Pick<Identity, 'roleKey' | 'roleProblem'> {
  const claim = claimAt(claims, name)
  const held: ReadonlySet<unknown> = new Set(
    Array.isArray(claim) ? claim.slice(0, mostGroups) : [claim],
  )
  const found = roles.find(({ value }) => held.has(value))
  if (found !== undefined) return { roleKey: found.role }
  const what =
    claim === undefined ? `the ID token has no claim ${name}` : `no value of claim ${name}`
  return { roleProblem: `${what} that roles could map` }
}

/** A text of reasonable length, or `undefined`. */
function textAt(claims: Claims, name: string): string | undefined {
  const claim = claimAt(claims, name)
  return typeof claim === 'string' && claim !== '' && claim.length <= 1024 ? claim : undefined
}
