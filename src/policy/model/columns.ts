/** A model as it is written to a file, and as revisions name it. */
export interface ModelDefinition {
  /** The names of role, path and method in the request. */
  readonly request: readonly [role: string, path: string, method: string]
  /** The name of the domain in the request, between role and path; unset: requests have none. */
  readonly domain?: string
  /** What a rule consists of, in the order of its columns. */
  readonly columns: readonly { readonly name: string }[]
  readonly relations: readonly Relation[]
  readonly effect: CasbinEffect
  readonly matcher: string
}

/** A model outside the index grammar, as Casbin gets it. */
export interface CasbinModel extends ModelDefinition {
  readonly columns: readonly Column[]
  /** Which of its parts are outside the index grammar. */
  readonly outsideIndex: readonly string[]
}

/** How matching rules are weighed: any allow; any allow and no deny; the first one decides. */
export type CasbinEffect = 'allow' | 'deny-overrides' | 'priority'

/** A column of the rules and all that the matcher does with it. */
export interface Column {
  readonly name: string
  readonly uses: readonly ColumnUse[]
  /** The texts that the matcher compares it with. */
  readonly literals: readonly string[]
}

/** Compared with the path or the method as they are, or as a pattern by one of casbin's functions. */
export type ColumnUse =
  | 'path'
  | 'method'
  | 'keyMatch'
  | 'keyMatch2'
  | 'keyMatch3'
  | 'prefix'
  | 'regexMatch'

/** A kind of inheritance: `g`, `g2` and so on, between names or between names within a domain. */
export interface Relation {
  readonly name: string
  readonly places: 2 | 3
}

/** Reports a part of a model that is wrong, or outside the index grammar. */
export type Complain = (line: number, message: string) => undefined
