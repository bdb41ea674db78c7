import type { CompiledSet, Question } from './engine/decision.ts'

/** Where Casbin's domain of a request comes from: its host, or a claim of its token. */
export interface DomainSource {
  readonly from: 'host' | 'claim'
  /** The name of the claim, or a JSON pointer to it. */
  readonly claim?: string | undefined
}

/**
 * Why a gateway cannot decide by a model: only one of model and configuration has a domain. `undefined`
 * if they agree.
 */
export function domainProblem(
  hasDomain: boolean,
  source: DomainSource | undefined,
): string | undefined {
  if (hasDomain === (source !== undefined)) return undefined
  return hasDomain
    ? 'the request has a domain, but the configuration does not say where it comes from: set policy.domain.from to host or claim'
    : 'policy.domain is set, but the request has no domain: write "r = sub, dom, obj, act" in model.conf, or remove policy.domain'
}

/**
 * The same policies for questions about one domain: each question that names none is about it, and
 * only its inheritance counts.
 */
export function inDomain(policies: CompiledSet, domain: string): CompiledSet {
  const { set, engine } = policies
  const about = (question: Question): Question => ({ ...question, domain })
  return Object.freeze({
    ...policies,
    set: Object.freeze({
      ...set,
      inheritances: set.inheritances.filter((link) => (link.domain ?? domain) === domain),
    }),
    engine: Object.freeze({
      ...engine,
      decide: (question: Question) => engine.decide(about(question)),
      nearMisses: (question: Question, most: number) => engine.nearMisses(about(question), most),
    }),
  })
}

/** The domains that rules and inheritances of a policy name, sorted. */
export function domainsIn({ rules, inheritances }: CompiledSet['set']): readonly string[] {
  const named = [...rules, ...inheritances].flatMap(({ domain }) => domain ?? [])
  return [...new Set(named)].sort()
}
