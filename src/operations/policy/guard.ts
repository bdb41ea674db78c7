import { guardrailViolations } from '../../answers/guard.ts'
import type { RunOf } from '../operation.ts'
import type { policyGuard } from './descriptions.ts'
import { aboutPolicy, findPolicy, policyName } from './policy-query.ts'
import { readExpectations } from './review.ts'

/** Lists the guardrails of a policy with how it breaks them. */
export const run: RunOf<typeof policyGuard, string> = async (input, context) => {
  const query = await findPolicy({ ...input, config: context.configFile }, context, 'optional')
  const { whole: set, admission, at: now, settings } = query
  // A published policy has no tests: those of the directory are about it too.
  const expectations = await readExpectations(input.policies ?? settings.directory, context)
  const found = guardrailViolations({ set, admission, expectations, now })
  const guardrails = (set.guardrails ?? []).map((guardrail) => {
    const { text, reason, origin } = guardrail
    const violations = found.flatMap((each) => {
      if (each.guardrail !== guardrail) return []
      return [{ message: each.message, ...(each.proof && { proof: each.proof }) }]
    })
    return { text, ...(reason !== undefined && { reason }), origin, violations }
  })
  const ok = found.length === 0
  const document = { ok, guardrails, ...aboutPolicy(query) }
  return { document, outcome: ok ? 'done' : 'no', shown: policyName(query) }
}
