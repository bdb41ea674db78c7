import { claimHeaders, userName } from '../../config/identity-headers.ts'
import type { Config } from '../../config/schema/schema.ts'
import { carriedClaim } from '../../token/carried-claims.ts'
import type { VerifiedToken } from '../../token/tokens.ts'

/** Name, value, name, value … that identify the caller. */
export type IdentityHeaders = (token: VerifiedToken) => readonly string[]

/** Builds the headers once per token, not per request. */
export function createIdentityHeaders(names: Config['headers']): IdentityHeaders {
  const writtenFor = new WeakMap<VerifiedToken, readonly string[]>()
  const further = claimHeaders(names)

  return (token) => {
    const known = writtenFor.get(token)
    if (known !== undefined) return known
    const { caller, kind, claims } = token
    // Another issuer's name for a person may be that of an account here.
    const user = kind === 'issuer' ? caller.userId : caller.username
    const written = [
      [names.userId, caller.userId],
      [names.roleKey, caller.roleKey],
      [names.dataScope, caller.dataScope],
      [names.userName, caller.username],
      [names.roleId, caller.roleId],
      // Empty without a value, so that it replaces what a client has sent behind every proxy.
      ...further.map(({ name, claim }): [string, string | readonly string[]] => {
        return [name, claim === userName ? user : carriedClaim(claims, claim)]
      }),
    ].flatMap(([name = '', value = '']) => [name, headerValue(value)])
    writtenFor.set(token, written)
    return written
  }
}

/**
 * A value that every header parser reads as one value. Plain ASCII without `%` stays as it is;
 * everything else is percent-encoded completely, so that decoding once always returns the original. So
 * is an item of a list with a comma.
 */
function headerValue(value: string | readonly string[]): string {
  if (typeof value !== 'string') return value.map((item) => textOf(item, /,/.test(item))).join(',')
  return textOf(value, false)
}

function textOf(value: string, isToEncode: boolean): string {
  const isPlain = /^(?:[\x21-\x24\x26-\x7e](?:[\x20-\x24\x26-\x7e]*[\x21-\x24\x26-\x7e])?)?$/.test(
    value,
  )
  return isPlain && !isToEncode ? value : encodeURIComponent(value.toWellFormed())
}
