import { Fault, Refusal } from '../../kernel/errors.ts'
import { decide, type Question } from '../../policy/decide.ts'
import type { CompiledPolicies } from '../../policy/engine/compile.ts'
import type { VerifiedToken } from '../../token/tokens.ts'
import { destinationQuestion, questionOf } from '../question.ts'
import type { OpenExchange, StartSweep } from './open-exchanges.ts'

interface StillAllowedParts {
  /** Why a token is no longer valid, if so. */
  readonly problemOf: (token: VerifiedToken) => Refusal | Fault | undefined
  /** The active policies. Throws a Fault before the first are loaded. */
  readonly policies: () => CompiledPolicies
  readonly now?: () => number
}

/**
 * Ends exchanges whose token or permission is gone. Decides about permission again only when the
 * policies have changed since the last sweep, or one of their lines has expired. Without policies, or
 * when the engine fails, exchanges go on: a fault revokes no permission.
 */
export function createStillAllowed({
  problemOf,
  policies,
  now = Date.now,
}: StillAllowedParts): StartSweep {
  let last: CompiledPolicies | undefined
  let lastAt = Number.NEGATIVE_INFINITY

  return () => {
    const current = unlessFault(policies)
    const at = now()
    const changed =
      current !== undefined &&
      (current !== last || current.ends.some((end) => lastAt < end && end <= at))
    if (changed) last = current
    lastAt = at
    return (exchange) =>
      problemOf(exchange.token) ?? (changed ? permissionProblem(exchange, current) : undefined)
  }
}

function permissionProblem(
  { token, authorized }: OpenExchange,
  policies: CompiledPolicies,
): Refusal | undefined {
  // The route needs no permission.
  if (typeof authorized.grounds === 'string') return undefined
  const { received } = authorized
  const question = questionOf(received, token)
  const writing = destinationQuestion(question, received)
  return (
    refusalOf(question, policies) ??
    (writing && refusalOf(writing, policies, ', for the Destination header'))
  )
}

function refusalOf(
  question: Question,
  policies: CompiledPolicies,
  about = '',
): Refusal | undefined {
  const decision = unlessFault(() => decide(question, policies))
  if (decision === undefined || decision.allowed) return undefined
  return new Refusal('not-permitted', { reason: `${decision.step}${about}` })
}

function unlessFault<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof Fault) return undefined
    throw error
  }
}
