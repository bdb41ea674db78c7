import type { PathMatch } from '../rule/pattern.ts'
import type { CasbinModel, ModelDefinition } from './columns.ts'
import type { SuperuserClause } from './superuser.ts'

/** The meaning of a model, whatever its order and spacing and, in the index grammar, its names. */
export interface Model {
  /** `g` lines count: a role may do what its parents may. */
  readonly inheritance: boolean
  readonly path: PathMatch
  /** `*` in the method column matches every method. */
  readonly anyMethod: boolean
  /** Rules have a fourth column, `allow` or `deny`. */
  readonly effectColumn: boolean
  /** One matching deny outweighs every matching allow. */
  readonly denyOverrides: boolean
  /** The method column has regular expressions, each of which is a list of methods. */
  readonly methodLists?: true
  /** How the domain of a request is compared; unset: requests have none, or Casbin compares it. */
  readonly domain?: DomainMatch
  /** The clauses of the matcher that make every rule match a role. */
  readonly superusers?: readonly SuperuserClause[]
  /**
   * Set for a model of the index grammar that Casbin evaluated in earlier versions: the names of its
   * revisions depend on how it is written.
   */
  readonly definition?: ModelDefinition
  /** Set for a model outside the index grammar, which Casbin evaluates. */
  readonly casbin?: CasbinModel
}

/** How a model of the index grammar compares domains. */
export interface DomainMatch {
  /**
   * The domain column of a rule: equal to that of the request; or `*` for every domain; or also the
   * beginning of domains before `*`. `every`: rules have no such column and count in every domain.
   */
  readonly rules: 'equal' | 'any' | 'prefix' | 'every'
  /** Each `g` line counts in one domain. */
  readonly scopedRoles: boolean
}

/** Whether requests have a domain under this model. */
export function hasDomain({ casbin, definition }: Model): boolean {
  return (casbin ?? definition)?.domain !== undefined
}

/** Which engine decides by a model, and why: the index for models of the index grammar, else Casbin. */
export function engineFor({ casbin }: Model) {
  if (casbin === undefined) {
    return {
      name: 'index',
      reason:
        'the model is in the index grammar: decision time does not depend on the number of rules',
    } as const
  }
  const why = casbin.outsideIndex.join('; ')
  const reason = `${why}; decision time grows with the number of rules`
  return { name: 'casbin', reason } as const
}
