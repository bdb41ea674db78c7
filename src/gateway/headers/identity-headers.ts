import type { VerifiedToken } from '../../token/tokens.ts'

/** The configured names of the headers that identify the caller. */
interface IdentityNames {
  readonly userId: string
  readonly roleKey: string
  readonly dataScope: string
  readonly userName: string
  readonly roleId: string
}

/** Name, value, name, value … that identify the caller. */
export type IdentityHeaders = (token: VerifiedToken) => readonly string[]

/** Builds the headers once per token, not per request. */
export function createIdentityHeaders(names: IdentityNames): IdentityHeaders {
  const writtenFor = new WeakMap<VerifiedToken, readonly string[]>()

  return (token) => {
    const known = writtenFor.get(token)
    if (known !== undefined) return known
    const { caller } = token
    const written = [
      [names.userId, caller.userId],
      [names.roleKey, caller.roleKey],
      [names.dataScope, caller.dataScope],
      [names.userName, caller.username],
      [names.roleId, caller.roleId],
    ].flatMap(([name = '', value = '']) => [name, headerValue(value)])
    writtenFor.set(token, written)
    return written
  }
}

/**
 * A value that every header parser reads as one value. Plain ASCII without `%` stays as it is;
 * everything else is percent-encoded completely, so that decoding once always returns the original.
 */
function headerValue(value: string): string {
  if (/^(?:[\x21-\x24\x26-\x7e](?:[\x20-\x24\x26-\x7e]*[\x21-\x24\x26-\x7e])?)?$/.test(value)) {
    return value
  }
  return encodeURIComponent(value.toWellFormed())
}
