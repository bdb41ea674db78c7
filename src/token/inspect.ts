import { readPayload } from './claims.ts'
import { parseCompactForm, parseObject } from './compact-form.ts'
import type { KeySet } from './key-set.ts'
import type { VerifyingKey } from './keys.ts'
import { issueTime, tokenName } from './token-id.ts'
import { chooseKey, isSignedBy, type VerifiedToken } from './tokens.ts'

/** What can be seen of a token without trusting it. Its signature is in none of it. */
export interface Inspection {
  readonly header: Readonly<Record<string, unknown>>
  readonly claims: Readonly<Record<string, unknown>>
  /** The key that signed it, if that is one of the given. */
  readonly key: Pick<VerifyingKey, 'kid' | 'algorithm'> | undefined
  /** The token as a gateway would take it, apart from time and revocation. */
  readonly token: VerifiedToken | undefined
  /** Why there is none. */
  readonly problem: string | undefined
}

/** Takes a token apart and checks its signature. `undefined` when it is none at all. */
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
  if (key === undefined) return { ...seen, ...nothing, problem: 'no key of ours fits its header' }
  if (!(await isSignedBy(text, key))) {
    return { ...seen, ...nothing, problem: 'the signature is not by our key' }
  }
  return { ...seen, key, ...read(key, compact.payload, compact.signingInput) }
}

const nothing = { key: undefined, token: undefined }

function read(key: VerifyingKey, payload: Uint8Array, signingInput: string) {
  try {
    const { caller, expiresAt, notBefore, issuedAt, tokenId } = readPayload(payload)
    const token = {
      key,
      caller,
      expiresAt,
      notBefore,
      id: tokenName(tokenId, signingInput),
      issuedAt: issueTime(tokenId, issuedAt),
    }
    return { token, problem: undefined }
  } catch (error) {
    const { reason } = (error as { detail?: { reason?: string } }).detail ?? {}
    return { token: undefined, problem: reason ?? 'its claims cannot be read' }
  }
}

/** Numbers that a double would round are shown digit by digit. */
function keepExact(_: string, value: unknown, { source }: { source?: string }): unknown {
  const isRounded = typeof value === 'number' && !Number.isSafeInteger(value)
  return isRounded && source !== undefined && /^\d+$/.test(source) ? source : value
}
