import { Fault } from '../errors.ts'
import { createCasbinEngine } from './casbin-engine.ts'
import type { CompiledPolicies, Decision, Engine, Question } from './decision.ts'
import { engineFor } from './engine-for.ts'
import { createExclusionList } from './exclusion-list.ts'
import { createIndexEngine } from './index-engine.ts'
import type { PolicySet } from './policy-set.ts'
import { finish, type Steps } from './steps.ts'

export type { CompiledPolicies } from './decision.ts'
export { engineFor } from './engine-for.ts'

/**
 * Makes a policy set ready to answer. The result shares nothing with an earlier one, so questions
 * under way keep their answers while the next revision is compiled.
 */
export function compile(set: PolicySet): CompiledPolicies {
  return finish(compileInSteps(set))
}

/** What `compile` does, in steps. */
export function* compileInSteps(set: PolicySet): Steps<CompiledPolicies> {
  const { revision } = set
  return Object.freeze({
    revision,
    set,
    engine: yield* createEngine(set),
    excluded: withFault(createExclusionList(set.exclusions, revision)),
    admin: Object.freeze({ allowed: true, step: 'admin', revision }),
    none: Object.freeze({ allowed: false, step: 'none', revision }),
  } as const)
}

function* createEngine(set: PolicySet): Steps<Engine> {
  const { casbin } = set.model
  const { reason } = engineFor(set.model)
  const engine =
    casbin === undefined
      ? yield* createIndexEngine(set, reason)
      : yield* createCasbinEngine(set, casbin, reason)
  return Object.freeze({ ...engine, decide: withFault(engine.decide) })
}

type Answer = (question: Question) => Decision | undefined

/** What breaks on a request is a fault of ours: neither a yes nor a reason to log in again. */
function withFault(answer: Answer): Answer {
  return (question) => {
    try {
      return answer(question)
    } catch (cause) {
      throw new Fault('policies', { cause, reason: 'the policy engine failed on this request' })
    }
  }
}
