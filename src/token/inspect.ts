import { readPayload } from './claims.ts'
import { keepExact, parseCompactForm, parseObject } from './compact-form.ts'
import type { KeySet } from './key-set.ts'
import type { VerifyingKey } from './keys.ts'
import { issueTime, tokenName } from './token-id.ts'
import { chooseKey, isSignedBy, type VerifiedToken } from './tokens.ts'

/** The contents of a token that is not trusted, without its signature. */
export interface Inspection {
  readonly header: Readonly<Record<string, unknown>>
  readonly claims: Readonly<Record<string, unknown>>
  /** The key that signed it, if it is one of the given keys. */
  readonly key: Pick<VerifyingKey, 'kid' | 'algorithm'> | undefined
  /** The token as a gateway reads it, without checks of time and revocation. */
  readonly token: VerifiedToken | undefined
  /** Why `token` is missing. */
  readonly problem: string | undefined
}

/** Decodes a token and verifies its signature. `undefined` if it is not a JWT. */
export async function inspectToken(
  text: string,
  keys: Pick<KeySet, 'find'>,
  maxBytes: number,
): Promise<Inspection | undefined> {
  const compact = parseCompactForm(text, maxBytes)
  const claims = parseObject(compact?.payload, keepExact)
  if (compact === undefined || claims === undefined) return undefined

  const seen = { header: compact.header, claims }
  const key = chooseKey(compact.header, keys)
  if (key === undefined)
    return { ...seen, ...nothing, problem: 'no configured key matches its header' }
  if (!(await isSignedBy(text, key))) {
    return { ...seen, ...nothing, problem: 'the signature does not verify' }
  }
  return { ...seen, key, ...read(key, compact.payload, compact.signingInput) }
}

const nothing = { key: undefined, token: undefined }

function read(key: VerifyingKey, payload: Uint8Array, signingInput: string) {
  try {
    const { caller, expiresAt, notBefore, issuedAt, tokenId, kind } = readPayload(payload)
    const token = {
      kind,
      key,
      caller,
      expiresAt,
      notBefore,
      id: tokenName(tokenId, signingInput),
      userId: caller.userId,
      issuedAt: issueTime(tokenId, issuedAt),
    }
    return { token, problem: undefined }
  } catch (error) {
    const { reason } = (error as { detail?: { reason?: string } }).detail ?? {}
    return { token: undefined, problem: reason ?? 'its claims are invalid' }
  }
}
