import type { VerifiedToken } from '../../token/tokens.ts'

/** The names under which an upstream learns who calls. Each can be configured. */
interface IdentityNames {
  readonly userId: string
  readonly roleKey: string
  readonly dataScope: string
  readonly userName: string
  readonly roleId: string
}

/** Name, value, name, value … of who calls. */
export type IdentityHeaders = (token: VerifiedToken) => readonly string[]

/** Writes the headers once for each token, not for each request. */
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
 * A value that no header parser reads as more than one value. Plain ASCII stays as it is; with
 * anything else in it, or a `%`, the whole value is percent-encoded, so that decoding once always
 * gives back the original.
 */
function headerValue(value: string): string {
  if (/^(?:[\x21-\x24\x26-\x7e](?:[\x20-\x24\x26-\x7e]*[\x21-\x24\x26-\x7e])?)?$/.test(value)) {
    return value
  }
  return encodeURIComponent(value.toWellFormed())
}
