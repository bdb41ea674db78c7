import { methodBits } from '../review/grants.ts'
import { shapeOf, treeOf, visitCovering } from '../review/pattern-tree.ts'

interface Granted {
  readonly path: string
  readonly method: string
}

/**
 * Rules that no other one contains, and one of those that are equal. What a contained rule gives
 * to a role, the other one gives it too.
 */
export function widest<Each extends Granted>(rules: readonly Each[]): readonly Each[] {
  if (rules.length < 2) return rules
  const root = treeOf(rules, ({ path }) => path)
  return rules.filter((rule) => {
    const bits = methodBits(rule.method)
    let contained = false
    visitCovering(root, shapeOf(rule.path), (others) => {
      for (const other of others) {
        if (other === rule || (bits & ~methodBits(other.method)) !== 0) continue
        const isSame = methodBits(other.method) === bits && others.includes(rule)
        contained ||= !isSame || others.indexOf(other) < others.indexOf(rule)
      }
    })
    return !contained
  })
}
