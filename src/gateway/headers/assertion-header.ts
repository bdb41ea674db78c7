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
  /** Whom it is for; without it the upstream that the request goes to, by its name. */
  readonly audience?: string
}

/** For a gateway that signs nothing. */
export const noAssertion: AssertionHeader = () => []

/** Signs for whoever calls. On a public route there is nobody, and so there is no header. */
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
