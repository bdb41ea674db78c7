import { guardrailProblems } from '../../answers/guard.ts'
import type { PolicySet } from '../../policy/set/policy-set.ts'
import { Refused } from '../declined.ts'
import type { ReviewIo } from './review.ts'

/**
 * Refuses a stored policy that breaks one of its guardrails: another version stored it, or other routes are
 * configured since. Tests are not stored, so routes without one are left to the person who has its directory.
 */
export function refuseBroken(set: PolicySet, { settings, tell }: Omit<ReviewIo, 'context'>): void {
  const guardrails = set.guardrails?.filter(({ kind }) => kind !== 'route-tests') ?? []
  if (guardrails.length === 0) return
  const { admission } = settings.admission()
  const guarded = { set: { ...set, guardrails }, admission, expectations: [], now: Date.now() }
  const errors = guardrailProblems(guarded)
  if (errors.length === 0) return
  tell({ errors })
  const { revision } = set
  throw new Refused({ document: { ok: false, revision, errors }, outcome: 'invalid' })
}
