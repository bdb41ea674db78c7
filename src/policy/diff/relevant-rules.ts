import { type GrantTree, type MethodBits, methodBits, treeOf } from '../review/grants.ts'
import { createNode, place, shapeOf, visitOverlapping } from '../review/pattern-tree.ts'
import type { Rule } from '../rule/rule.ts'
import type { Version } from './changed-lines.ts'

/** The rules that can matter for some patterns. */
export type RelevantRules = ReturnType<typeof relevantRules>

/**
 * Selects from two policies what can matter for the patterns of `rules`. Of a million rules that is
 * usually a handful, and only for those a tree is built.
 */
export function relevantRules(
  rules: Iterable<Rule>,
  { from, to }: { readonly from: Version; readonly to: Version },
) {
  const patterns = createNode<Map<string, MethodBits>>()
  for (const { path, method } of rules) {
    place(patterns, shapeOf(path), (known = new Map()) => {
      return known.set(path, (known.get(path) ?? 0) | methodBits(method))
    })
  }
  const selections = { from: new Map<string, Selection>(), to: new Map<string, Selection>() }

  function select(roleRules: readonly Rule[]): Selection {
    const touched = new Set<string>()
    const relevant = roleRules.filter(({ path, method }) => {
      const bits = methodBits(method)
      let isRelevant = false
      visitOverlapping(patterns, shapeOf(path), (paths) => {
        for (const [each, wanted] of paths) {
          if ((bits & wanted) === 0) continue
          isRelevant = true
          touched.add(each)
        }
      })
      return isRelevant
    })
    return { tree: relevant.length === 0 ? undefined : treeOf(relevant), touched }
  }

  function selectionOf(side: 'from' | 'to', roleKey: string): Selection {
    // The rules of most roles are the same in both policies.
    const isShared = !from.ownRules.has(roleKey) && !to.ownRules.has(roleKey)
    const known = selections[isShared ? 'from' : side]
    const version = side === 'from' ? from : to
    const found = known.get(roleKey) ?? select(version.grants.rulesOf(roleKey))
    known.set(roleKey, found)
    return found
  }

  return {
    /** The rules of a role that match a call of one of the patterns, as a tree. */
    treesOf: (version: Version, lineage: readonly string[]): readonly GrantTree[] =>
      lineage.flatMap(
        (roleKey) => selectionOf(version === from ? 'from' : 'to', roleKey).tree ?? [],
      ),
    /** The patterns that share a call with a rule of this role, in either policy. */
    touchedBy(roleKey: string) {
      const before = selectionOf('from', roleKey).touched
      const after = selectionOf('to', roleKey).touched
      return before === after ? before : new Set([...before, ...after])
    },
  }
}

interface Selection {
  readonly tree: GrantTree | undefined
  readonly touched: ReadonlySet<string>
}
