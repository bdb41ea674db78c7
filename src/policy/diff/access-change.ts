import type { Origin } from '../rule/rule.ts'

/** The difference of two policies as what callers can do. */
export interface AccessDiff {
  /** The revisions. */
  readonly from: string
  readonly to: string
  /** Whether any caller gained access. */
  readonly widened: boolean
  /**
   * One for each changed line that changes access, most severe first. Another one for each later
   * moment from which on the line changes more than before.
   */
  readonly changes: readonly AccessChange[]
}

/**
 * How much a change deserves attention, in this order: roles that may make every call because the
 * matcher names them; calls that need no permission any more; a gain of every method or of a pattern that ends in `*`; gains of methods that change data; gains of
 * methods that read; gains that could not be proved; losses.
 */
export type Severity =
  | 'superuser'
  | 'unchecked'
  | 'wide'
  | 'changing'
  | 'reading'
  | 'uncertain'
  | 'loss'

/**
 * Which line it is: a superuser clause of the matcher, an allow rule, a deny rule, a `g` line, an
 * exclusion, or one that only Casbin understands.
 */
type Cause = 'superuser' | 'allow' | 'deny' | 'inheritance' | 'exclusion' | 'casbin'

/** A changed line, and the access that roles gain or lose by it. */
export interface AccessChange {
  readonly direction: 'gain' | 'loss'
  readonly severity: Severity
  readonly cause: Cause
  readonly line: 'added' | 'removed'
  /** Where the line is: in the new policy if it was added, in the old one if it was removed. */
  readonly origin: Origin
  /** The role that the line names; `undefined` for exclusions, and when Casbin decides. */
  readonly roleKey: string | undefined
  /** Of a `g` line: the role that `roleKey` inherits from. */
  readonly parentKey?: string
  /** Where the roles gain or lose it, under a model with a domain: `north`, or a pattern with `*`. */
  readonly domains?: readonly string[]
  /** When Casbin decides: the line. For superusers: the clause. */
  readonly text?: string
  /** When the line expires, in milliseconds; absent: never. */
  readonly until?: number | undefined
  /** From when on roles gain or lose it, in milliseconds; absent: now. */
  readonly startsAt?: number
  /** Who gains or loses what; never empty. The share of `roleKey` itself is first, if it has one. */
  readonly shares: readonly Share[]
}

/** A changed line of a gain, before the direction of the comparison is known. */
export type FoundChange = Omit<AccessChange, 'direction' | 'severity'>

/** Roles that gain or lose the same by a line: the one that it names, and those that inherit it. */
export interface Share {
  /** Empty for exclusions, which are for every role, and when Casbin decides: any role. */
  readonly roles: readonly string[]
  /** Never empty; more than one only for a `g` line. */
  readonly grants: readonly Grant[]
}

/** Access that one policy gives and the other does not. */
export interface Grant {
  /** `*` for every method, `other` for those that no rule can name. */
  readonly methods: readonly string[]
  /** A pattern; a part of its paths may have been allowed already. */
  readonly path: string
  /** One call for which the two policies differ. */
  readonly example: { readonly method: string; readonly path: string } | undefined
  /** Whether they are known to differ. If not, nothing showed that they do not. */
  readonly certain: boolean
  /** Whose rule it is; `undefined` for exclusions, and when Casbin decides. */
  readonly owner: string | undefined
  /** The rule or exclusion. */
  readonly origin: Origin
}
