import type { PathMatch } from '../rule/pattern.ts'
import type { CasbinModel } from './columns.ts'

/** What a model means, free of its order and spacing and, in the covered grammar, of its names. */
export interface Model {
  /** `g` lines count: a role may do what its parents may. */
  readonly inheritance: boolean
  readonly path: PathMatch
  /** `*` in the method column stands for every method. */
  readonly anyMethod: boolean
  /** Rules have a fourth column, `allow` or `deny`. */
  readonly effectColumn: boolean
  /** One matching deny outweighs every matching allow. */
  readonly denyOverrides: boolean
  /** Only for a model outside the covered grammar, which casbin answers: all that it says. */
  readonly casbin?: CasbinModel
}
