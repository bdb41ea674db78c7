import { Fault } from '../../kernel/errors.ts'
import { engineFor, hasDomain } from '../model/model.ts'
import type { Exclusion, Rule } from '../rule/rule.ts'
import { type Clock, isExpired } from '../rule/until.ts'
import { activeAt } from '../set/active.ts'
import { builtInExclusions } from '../set/built-in-exclusions.ts'
import type { PolicySet } from '../set/policy-set.ts'
import { finish, type Steps } from '../steps.ts'
import { createCasbinEngine } from './casbin-engine.ts'
import type { CompiledPolicies, CompiledSet, Decision, Engine, Question } from './decision.ts'
import type { FlatPolicies } from './flat-policies.ts'
import { ruleAt } from './flat-rules.ts'
import { createIndexEngine } from './index-engine.ts'
import { lineEnds } from './line-ends.ts'
import { indexRules } from './rule-index.ts'
import { createPathTrieBuilder } from './tables/path-trie.ts'

export { engineFor } from '../model/model.ts'
export type { CompiledPolicies, CompiledSet } from './decision.ts'

/**
 * Makes a policy set ready to decide. The result shares nothing with that of another revision. Lines
 * that expire are ignored from their time on, by the clock, which may also go back.
 */
export function compile(set: PolicySet, now: Clock = Date.now): CompiledSet {
  return finish(compileInSteps(set, now))
}

/**
 * Makes a policy set ready to be asked about one time. Its `set` has only the lines that count then,
 * while near misses still name those that have expired.
 */
export function compileAt(set: PolicySet, at: number): CompiledSet {
  return Object.freeze({ ...compile(set, () => at), set: activeAt(set, at) })
}

/** `compile` in steps. */
export function* compileInSteps(set: PolicySet, now: Clock = Date.now): Steps<CompiledSet> {
  const { rules, exclusions, revision } = set
  const ends = yield* lineEnds(set)
  const engine = yield* createEngine(set, { now, ends })
  const about = { exclusions, revision, ends, now }
  const compiled = assemble(engine, {
    ...about,
    ruleCount: rules.length,
    hasDomain: hasDomain(set.model),
  })
  return Object.freeze({ ...compiled, set })
}

/** `compile` for flat policies. */
export function compileFlat(flat: FlatPolicies, now: Clock = Date.now): CompiledPolicies {
  const { index, rules, reason, revision } = flat
  const ruleCount = rules.roles.length
  const engine = createIndexEngine(index, {
    ruleAt: (position) => ruleAt(rules, position),
    ruleCount,
    revision,
    reason,
    now,
  })
  const exclusions = flat.exclusions.map((exclusion) =>
    Object.freeze({ ...exclusion, origin: Object.freeze(exclusion.origin) }),
  )
  const hasDomain = index.domains !== undefined
  const about = { ruleCount, hasDomain, exclusions, revision, ends: flat.ends, now }
  return Object.freeze(assemble(engine, about))
}

interface Assembled {
  readonly ruleCount: number
  readonly hasDomain: boolean
  readonly exclusions: readonly Exclusion[]
  readonly revision: string
  readonly ends: readonly number[]
  readonly now: Clock
}

function assemble(engine: Engine, about: Assembled) {
  const { ruleCount, exclusions, revision, ends, now } = about
  return {
    revision,
    ruleCount,
    hasDomain: about.hasDomain,
    ends,
    engine: Object.freeze({ ...engine, decide: withFault(engine.decide) }),
    // The policy's own entries come first, so that explanations show their reason.
    excluded: withFault(createExclusionList([...exclusions, ...builtInExclusions], revision, now)),
    admin: Object.freeze({ allowed: true, step: 'admin', revision }),
    none: Object.freeze({ allowed: false, step: 'none', revision }),
  } as const
}

function* createEngine(
  set: PolicySet,
  { now, ends }: { readonly now: Clock; readonly ends: readonly number[] },
): Steps<Engine> {
  const { rules, revision, model } = set
  const { reason } = engineFor(model)
  if (model.casbin !== undefined) {
    return yield* createCasbinEngine(set, { definition: model.casbin, reason, ends, now })
  }
  return createIndexEngine(yield* indexRules(set), {
    ruleAt: (position) => rules[position] as Rule,
    ruleCount: rules.length,
    revision,
    reason,
    now,
  })
}

type Answer = (question: Question) => Decision | undefined

/** An engine that throws is a fault: it neither allows the request nor sends the caller to the login. */
function withFault(answer: Answer): Answer {
  return (question) => {
    try {
      return answer(question)
    } catch (cause) {
      throw new Fault('policies', { cause, reason: 'the policy engine failed on this request' })
    }
  }
}

/** Finds the exclusion that covers a call by path AND method, as the decision it amounts to. */
function createExclusionList(
  exclusions: readonly Exclusion[],
  revision: string,
  now: Clock,
): (question: Question) => Decision | undefined {
  const builder = createPathTrieBuilder()
  const decisions = new Map<number, Map<string, Excluding>>()
  /** What decides when an entry that expires has expired. */
  const next = new Map<Excluding, Excluding>()
  for (const exclusion of exclusions) {
    const node = builder.add(exclusion.path)
    const byMethod = decisions.get(node) ?? new Map<string, Excluding>()
    const decision = Object.freeze({
      allowed: true,
      step: 'exclusion',
      exclusion,
      revision,
    } as const)
    let last = byMethod.get(exclusion.method)
    if (last === undefined) byMethod.set(exclusion.method, decision)
    else {
      for (let after = next.get(last); after !== undefined; after = next.get(last)) last = after
      if (last.exclusion.until !== undefined) next.set(last, decision)
    }
    decisions.set(node, byMethod)
  }

  const trie = builder.finish()
  const found: number[] = []
  return ({ method, path }) => {
    const count = trie.match(path, found)
    for (let index = 0; index < count; index++) {
      let decision = decisions.get(found[index] ?? 0)?.get(method)
      while (decision?.exclusion.until !== undefined && isExpired(decision.exclusion, now())) {
        decision = next.get(decision)
      }
      if (decision !== undefined) return decision
    }
    return undefined
  }
}

type Excluding = Decision & { readonly exclusion: Exclusion }
