import type { CompiledPolicies } from './decision.ts'
import { createExclusionList } from './exclusion-list.ts'
import { createIndexEngine } from './index-engine.ts'
import type { PolicySet } from './policy-set.ts'

export type { CompiledPolicies } from './decision.ts'

/**
 * Makes a policy set ready to answer. The result shares nothing with an earlier one, so questions
 * under way keep their answers while the next revision is compiled.
 */
export function compile(set: PolicySet): CompiledPolicies {
  const { revision } = set
  return Object.freeze({
    revision,
    set,
    engine: createIndexEngine(set),
    excluded: createExclusionList(set.exclusions, revision),
    admin: Object.freeze({ allowed: true, step: 'admin', revision }),
    none: Object.freeze({ allowed: false, step: 'none', revision }),
  } as const)
}
