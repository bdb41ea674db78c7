import { Fault, Refusal } from '../kernel/errors.ts'
import { type CompactToken, keepExact, parseCompactForm, parseObject } from './compact-form.ts'
import type { KeySet } from './key-set.ts'
import type { VerifyingKey } from './keys.ts'
import {
  chooseKey,
  type ForeignTokens,
  isSignedBy,
  readOwnToken,
  type VerifiedToken,
} from './tokens.ts'

/** The contents of a token that is not trusted, without its signature. */
export interface Inspection {
  readonly header: Readonly<Record<string, unknown>>
  readonly claims: Readonly<Record<string, unknown>>
  /** The key that signed it, if it is one of the given keys. */
  readonly key: { readonly kid: string | undefined; readonly algorithm: string } | undefined
  /** The token as a gateway reads it, without checks of time and revocation. */
  readonly token: VerifiedToken | undefined
  /** Why `token` is missing. */
  readonly problem: string | undefined
  /** A token of another issuer that cannot be reached, so it may be valid. */
  readonly isUnverified?: boolean
}

/** Decodes a token and verifies its signature. `undefined` if it is not a JWT. */
export async function inspectToken(
  text: string,
  keys: Pick<KeySet, 'find'>,
  maxBytes: number,
  foreign?: ForeignTokens,
): Promise<Inspection | undefined> {
  const compact = parseCompactForm(text, maxBytes)
  const claims = parseObject(compact?.payload, keepExact)
  if (compact === undefined || claims === undefined) return undefined

  const seen = { header: compact.header, claims }
  const verifying = foreign?.verify(text, compact)
  if (verifying !== undefined) return { ...seen, ...(await readForeign(verifying, compact.header)) }
  const key = chooseKey(compact.header, keys)
  if (key === undefined)
    return { ...seen, ...nothing, problem: 'no configured key matches its header' }
  if (!(await isSignedBy(text, key))) {
    return { ...seen, ...nothing, problem: 'the signature does not verify' }
  }
  return { ...seen, key, ...read(compact, key) }
}

const nothing = { key: undefined, token: undefined }

async function readForeign(verifying: Promise<VerifiedToken>, header: Inspection['header']) {
  try {
    const token = await verifying
    const key = { kid: token.key.kid, algorithm: String(header['alg']) }
    return { key, token, problem: undefined }
  } catch (error) {
    if (error instanceof Refusal) {
      return { ...nothing, problem: error.detail.reason ?? error.kind }
    }
    if (error instanceof Fault) return { ...nothing, problem: error.message, isUnverified: true }
    throw error
  }
}

function read(compact: CompactToken, key: VerifyingKey) {
  try {
    return { token: readOwnToken(compact, key).token, problem: undefined }
  } catch (error) {
    const { reason } = (error as { detail?: { reason?: string } }).detail ?? {}
    return { token: undefined, problem: reason ?? 'its claims are invalid' }
  }
}
