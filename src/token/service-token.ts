import type { Caller } from './caller.ts'
import type { KeySet } from './key-set.ts'
import type { Revocations } from './revocations.ts'
import { type IssuedToken, signToken } from './sign-token.ts'

interface ServiceTokenParts {
  readonly keys: KeySet
  /** The list that gateways follow, read before the account. */
  readonly revocations: Revocations
  /** The account, and when it was read, in milliseconds since the epoch. */
  readonly caller: Caller
  readonly readAt: number
  readonly lifetimeSeconds: number
}

/**
 * Issues a token for a program. Only commands may call this: the specification makes login the only way
 * to obtain a token from an endpoint (decision 19).
 */
export function issueServiceToken(parts: ServiceTokenParts): Promise<IssuedToken> {
  const { keys, revocations, caller, readAt, lifetimeSeconds } = parts
  const issuedAtMs = revocations.issueTime(caller.userId, Math.floor(readAt))
  return signToken(keys, caller, { kind: 'service', issuedAtMs, lifetimeSeconds })
}
