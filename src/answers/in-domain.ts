import type { CompiledSet, Question } from '../policy/engine/decision.ts'
import { createDomainScopes } from '../policy/review/domain-scopes.ts'
import type { PolicySet } from '../policy/set/policy-set.ts'

/**
 * The policies for questions about one domain: each question that names none is about it, and
 * the set has only what counts there.
 */
export function inDomain(policies: CompiledSet, domain: string): CompiledSet {
  const { set, engine } = policies
  const about = (question: Question): Question => ({ ...question, domain })
  return Object.freeze({
    ...policies,
    set: setInDomain(set, domain),
    engine: Object.freeze({
      ...engine,
      decide: (question: Question) => engine.decide(about(question)),
      nearMisses: (question: Question, most: number) => engine.nearMisses(about(question), most),
    }),
  })
}

/** Where Casbin evaluates the model, only its matcher knows which rules count in a domain. */
function setInDomain(set: PolicySet, domain: string): PolicySet {
  if (set.model.domain !== undefined) {
    return createDomainScopes(set, set.model.domain).in({ text: domain, isPattern: false })
  }
  return Object.freeze({
    ...set,
    inheritances: set.inheritances.filter((link) => (link.domain ?? domain) === domain),
  })
}

/** The domains that rules and inheritances of a policy name, sorted. */
export function domainsIn({ rules, inheritances }: CompiledSet['set']): readonly string[] {
  const named = [...rules, ...inheritances].flatMap(({ domain }) => domain ?? [])
  return [...new Set(named)].sort()
}
