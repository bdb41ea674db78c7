import type { Assert } from '../../token/assertions.ts'
import type { Authorized } from '../stages.ts'

/** Name and value of the header with the signed identity, or nothing. */
export type AssertionHeader = (
  authorized: Authorized,
  upstream: string | undefined,
) => readonly string[] | Promise<readonly string[]>

interface AssertionHeaderParts {
  readonly assert: Assert
  readonly header: string
  /** Unset: the name of the upstream. */
  readonly audience?: string
}

export const noAssertion: AssertionHeader = () => []

/** A public route has no caller, so no header. */
export function createAssertionHeader({
  assert,
  header,
  audience,
}: AssertionHeaderParts): AssertionHeader {
  return ({ token }, upstream = '') => {
    if (token === undefined) return []
    const text = assert(token, audience ?? upstream)
    return typeof text === 'string' ? [header, text] : text.then((signed) => [header, signed])
  }
}
