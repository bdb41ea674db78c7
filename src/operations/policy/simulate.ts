import { simulate } from '../../answers/simulate.ts'
import { InvalidInput } from '../invalid-input.ts'
import type { RunOf } from '../operation.ts'
import { compared, type Rows, requireRole } from './can.ts'
import { dated } from './dated.ts'
import type { policySimulate } from './descriptions.ts'
import { findRole } from './find-caller.ts'
import { aboutPolicy, checkQuery, findPolicy, policyName } from './policy-query.ts'

/** Shows what an account would gain and lose with another role. */
export const run: RunOf<typeof policySimulate, Rows> = async (input, context) => {
  const { user, 'add-role': added, 'remove-role': removed } = input
  checkQuery(input)
  const { roleKey, rows, facts, notes } = await findRole({ role: undefined, user }, context)
  if (removed !== undefined && removed !== roleKey) {
    throw new InvalidInput(undefined, `--remove-role ${removed}: ${user} has the role ${roleKey}`)
  }
  const query = await findPolicy({ ...input, config: context.configFile }, context)
  requireRole(added, query)
  const withRoles = [...new Set([...(removed === undefined ? [roleKey] : []), added])]
  const change = { from: roleKey, to: withRoles }
  const { gains, losses } = simulate(query, { ...query, set: query.whole, ...change })
  const about = compared(query, gains, losses)
  const one = 'an account has one role: this is what a role that inherits both may do'
  const more = [...about.notes, ...(withRoles.length > 1 ? [one] : []), ...notes]
  const answer = { roleKey, withRoles, gains, losses }
  return {
    document: { ...dated({ ...answer, ...aboutPolicy(query, more) }), ...facts },
    outcome: about.outcome,
    shown: [...rows, ['policy', policyName(query)]],
  }
}
