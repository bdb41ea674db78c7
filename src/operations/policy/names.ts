import { namesIn } from '../../answers/names.ts'
import type { RunOf } from '../operation.ts'
import { aboutPolicy, askedPolicy, policyName } from './asked-policy.ts'
import type { policyNames } from './descriptions.ts'
import { readDocumented } from './documented.ts'

/** Lists what other questions can be about. */
export const run: RunOf<typeof policyNames, string> = async (input, context) => {
  const asked = await askedPolicy({ ...input, config: context.configFile }, context, 'optional')
  const { operations, notes } = await readDocumented(asked.settings, context)
  const document = { ...namesIn(asked, operations), ...aboutPolicy(asked, notes) }
  return { document, shown: policyName(asked) }
}
