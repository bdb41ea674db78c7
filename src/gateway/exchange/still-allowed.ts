import { Fault, Refusal } from '../../errors.ts'
import { decide } from '../../policy/decide.ts'
import type { CompiledPolicies } from '../../policy/engine/compile.ts'
import type { VerifiedToken } from '../../token/tokens.ts'
import type { OpenExchange, StartLooking } from './open-exchanges.ts'

interface StillAllowedParts {
  /** Why a token that was good is good no longer, if so. */
  readonly problemOf: (token: VerifiedToken) => Refusal | Fault | undefined
  /** The policies in force. Throws a Fault while there are none. */
  readonly policies: () => CompiledPolicies
}

/**
 * What began with a good token and a permission may go on only while both hold. Permission is asked
 * for again only when another policy has come into force since the last look. What cannot be told,
 * for want of a policy or since its engine broke, is not cut: a fault takes no permission back.
 */
export function createStillAllowed({ problemOf, policies }: StillAllowedParts): StartLooking {
  let last: CompiledPolicies | undefined

  return () => {
    const current = unlessFault(policies)
    const changed = current !== undefined && current !== last
    if (changed) last = current
    return (exchange) =>
      problemOf(exchange.token) ?? (changed ? permissionProblem(exchange, current) : undefined)
  }
}

function permissionProblem(
  { token, authorized }: OpenExchange,
  policies: CompiledPolicies,
): Refusal | undefined {
  // The route asks for no permission.
  if (typeof authorized.grounds === 'string') return undefined
  const { method, path } = authorized.received.call
  const question = { roleKey: token.caller.roleKey, method, path }
  const decision = unlessFault(() => decide(question, policies))
  if (decision === undefined || decision.allowed) return undefined
  return new Refusal('not-permitted', { reason: decision.step })
}

function unlessFault<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof Fault) return undefined
    throw error
  }
}
