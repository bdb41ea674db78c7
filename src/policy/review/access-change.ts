import type { Origin } from '../rule/rule.ts'

/** Access that one policy gives and the other does not. */
export interface AccessChange {
  /** `undefined` for exclusions, which are for every role, and when casbin answers: some role. */
  readonly roleKey: string | undefined
  /** What gives it: a rule, the exclusion list, or lines whose meaning only casbin knows. */
  readonly by: 'rule' | 'exclusion' | 'casbin'
  /** `*` for every method, `other` for those that no rule can name. */
  readonly methods: readonly string[]
  /** The pattern of the rule or exclusion; a part of its paths may have been allowed already. */
  readonly path: string
  /** One call for which the two policies differ. */
  readonly example: { readonly method: string; readonly path: string } | undefined
  /** Whether they are known to differ. If not, nothing showed that they do not. */
  readonly certain: boolean
  /** The role whose rule it is, when the role of this change inherits it. */
  readonly inheritedFrom: string | undefined
  readonly origin: Origin
}
