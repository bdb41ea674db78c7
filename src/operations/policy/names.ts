import { namesIn } from '../../answers/names.ts'
import type { RunOf } from '../operation.ts'
import type { policyNames } from './descriptions.ts'
import { readDocumented } from './documented.ts'
import { aboutPolicy, findPolicy, policyName } from './policy-query.ts'

/** Lists what other questions can be about. */
export const run: RunOf<typeof policyNames, string> = async (input, context) => {
  const query = await findPolicy({ ...input, config: context.configFile }, context, 'optional')
  const { operations, notes } = await readDocumented(query.settings, context)
  const document = { ...namesIn(query, operations), ...aboutPolicy(query, notes) }
  return { document, shown: policyName(query) }
}
