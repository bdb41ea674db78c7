import type { Admission } from '../admission/verdict.ts'
import { removedPaths } from '../kernel/endpoints.ts'
import {
  type PatternNode,
  place,
  shapeOf,
  treeOf,
  visitPrefixes,
} from '../policy/review/pattern-tree.ts'
import { freshSegment, kindsAt, nodesAfter } from '../policy/review/segment-classes.ts'
import type { Rule } from '../policy/rule/rule.ts'
import { builtInExclusions } from '../policy/set/built-in-exclusions.ts'
import type { PolicySet } from '../policy/set/policy-set.ts'

/** Receives one example of each case, and the rules of any role and method that match its path. */
type VisitCase = (path: string, rules: readonly Rule[]) => void

/** Visits the cases of a pattern. Returns whether these are all. */
type PathCases = (pattern: string, visit: VisitCase) => boolean

/** The most steps for one pattern, and for all patterns of one answer: seconds. */
const stepsPerPattern = 20_000
const stepsInAll = 500_000
/** For a pattern when the others have used up all. */
const stepsAtLeast = 100

/**
 * Splits the paths of a pattern into cases: paths that no rule, exclusion, route or endpoint tells
 * apart. An example of each case then stands for all of it, whatever the role and method, so that
 * asking `evaluate` about the examples answers for the infinitely many paths. The walk is that of
 * `findGain`.
 */
export function createPathCases(set: PolicySet, admission: Admission): PathCases {
  const root = distinguish(set, admission)
  let stepsLeft = stepsInAll

  return (pattern, visit) => {
    const shape = shapeOf(pattern)
    const most = Math.max(stepsAtLeast, Math.min(stepsPerPattern, stepsLeft))
    let steps = most
    let areAll = true
    let isVisited = false

    function walk(nodes: Nodes, above: readonly Rule[], at: number, path: string): void {
      const matched = withRules(
        above,
        nodes.map(({ below }) => below),
      )
      for (const kind of kindsAt(shape, at, nodes)) {
        // At least one case of every pattern is visited.
        if (steps <= 0 && isVisited) {
          areAll = false
          return
        }
        // A step looks at every node.
        steps -= Math.max(1, nodes.length)
        const name = kind.isText ? kind.text : freshSegment(kind.text, nodes)
        if (name === undefined) {
          areAll = false
          continue
        }
        const next = nodesAfter(nodes, kind)
        const rules = withRules(matched, prefixRules(nodes, kind.text))
        const nextPath = `${path}/${name}`
        const isEnd = shape.tail === 'end' && at === shape.segments.length - 1
        const isFree = at >= shape.segments.length
        if (isEnd || isFree) {
          isVisited = true
          visit(
            nextPath,
            withRules(
              rules,
              next.map(({ end }) => end),
            ),
          )
        }
        // Where no pattern leads on, longer paths are the same case. An empty segment is last.
        if (!isEnd && (!isFree || (next.length > 0 && name !== ''))) {
          walk(next, rules, at + 1, nextPath)
        }
      }
    }

    walk([root], [], 0, '')
    stepsLeft -= most - Math.max(0, steps)
    return areAll
  }
}

type Nodes = readonly PatternNode<Rule[]>[]

/** A tree of everything that decides by the path. */
function distinguish({ rules, exclusions }: PolicySet, admission: Admission): PatternNode<Rule[]> {
  const root = treeOf(rules, ({ path }) => path)
  const others = [
    ...[...exclusions, ...builtInExclusions].map(({ path }) => path),
    ...admission.routes.map(({ path }) => path),
    ...admission.endpoints.map(({ path }) => path),
    ...removedPaths,
  ]
  for (const path of others) place(root, shapeOf(path), (known = []) => known)
  return root
}

function withRules(
  known: readonly Rule[],
  found: readonly (readonly Rule[] | undefined)[],
): readonly Rule[] {
  const more = found.filter((rules) => rules !== undefined && rules.length > 0)
  return more.length === 0 ? known : known.concat(...(more as (readonly Rule[])[]))
}

function prefixRules(nodes: Nodes, segment: string): readonly (readonly Rule[])[] {
  const found: Rule[][] = []
  for (const node of nodes) visitPrefixes(node, segment, (rules) => found.push(rules))
  return found
}
