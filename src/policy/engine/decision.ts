import type { Exclusion, Rule } from '../rule/rule.ts'
import type { PolicySet } from '../set/policy-set.ts'

/** May this role call this canonical path with this method, in this domain? */
export interface Question {
  readonly roleKey: string
  /** Casbin's domain. Under a model with a domain, no rule matches without one. */
  readonly domain?: string | undefined
  readonly method: string
  readonly path: string
  /** Canonical. Absent: no route and no policy needs it, or the question names none. */
  readonly host?: string | undefined
}

/** The answer, the step of the specification that decided, and the revision. */
export interface Decision {
  readonly allowed: boolean
  readonly step: 'admin' | 'exclusion' | 'superuser' | 'rule' | 'none'
  readonly rule?: Rule
  readonly exclusion?: Exclusion
  /** The clause of the matcher that makes every rule match the role. */
  readonly clause?: string
  readonly revision: string
}

/**
 * An allow rule that would have applied to another method, role or domain, or at an earlier time.
 * `inheritance`: to a role that inherits it in another domain only.
 */
export interface NearMiss {
  readonly differs: 'method' | 'role' | 'domain' | 'inheritance' | 'expired'
  readonly rule: Rule
}

/** Decides by the rules alone; `admin` and the exclusion list come before. */
export interface Engine {
  readonly name: 'index' | 'casbin'
  /** Why this engine decides by the model. */
  readonly reason: string
  /** The rule that decides, as a decision; `undefined` when no rule matches. */
  readonly decide: (question: Question) => Decision | undefined
  /** At most `most` near misses. Walks over all rules: too slow for every request. */
  readonly nearMisses: (question: Question, most: number) => readonly NearMiss[]
}

/** A policy set ready to decide. Immutable: a new revision is a new object. */
export interface CompiledPolicies {
  readonly revision: string
  readonly ruleCount: number
  /** Whether the model has a domain. */
  readonly hasDomain: boolean
  /** The times at which lines expire and decisions may change, in ascending order. */
  readonly ends: readonly number[]
  readonly engine: Engine
  /** The decision by which the exclusion list lets this call pass, if it does. */
  readonly excluded: (question: Question) => Decision | undefined
  readonly admin: Decision
  readonly none: Decision
}

/** Compiled policies with the set they were made from. */
export interface CompiledSet extends CompiledPolicies {
  readonly set: PolicySet
}
