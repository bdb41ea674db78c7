import { captchaAlias, isRemoved, ownPaths } from '../../endpoints.ts'
import { nearest } from '../../suggest.ts'
import type { Finding, Locate } from '../review/finding.ts'
import { type PatternShape, shapeOf } from '../review/pattern-tree.ts'
import { type Exclusion, quote, type Rule } from '../rule/rule.ts'
import type { PolicySet } from '../set/policy-set.ts'

/** A segment of the paths that a configuration serves, and what follows it. */
interface ServedNode {
  readonly below: Map<string, ServedNode>
  /** A route serves this path and everything below it. */
  isRoute: boolean
  /** An own endpoint serves exactly this path. */
  isEndpoint: boolean
}

/**
 * Finds rules and exclusions on paths that no route serves: permitted callers get 404, and a mistyped
 * path denies what its author allowed. One warning for each group of paths, such as a service that
 * this gateway does not have.
 */
export function checkServedPaths(
  { rules, exclusions }: PolicySet,
  routes: readonly string[],
  locate: Locate,
): Finding[] {
  const root = treeOf(routes)
  const groups = new Map<string, (Rule | Exclusion)[]>()
  const groupOf = new Map<string, string | undefined>()
  for (const each of [...rules, ...exclusions]) {
    const { path } = each
    if (!groupOf.has(path)) groupOf.set(path, unservedPart(root, path))
    const group = groupOf.get(path)
    if (group === undefined) continue
    const known = groups.get(group)
    if (known === undefined) groups.set(group, [each])
    else known.push(each)
  }
  return [...groups].flatMap(([group, all], index): Finding[] => {
    const [first, ...others] = all
    if (first === undefined) return []
    const field = 'roleKey' in first ? 'path' : 'line'
    const message = `no route serves ${quote(group)}, so permitted callers get 404${howMany(others.length)}${index < mostCompared ? nearestRoute(group, routes) : ''}`
    const related = others.map(({ origin }) => origin)
    return [{ ...locate(first.origin, field), code: 'unserved-path', message, related }]
  })
}

function treeOf(routes: readonly string[]): ServedNode {
  const root = createNode()
  for (const path of routes) nodeAt(root, path).isRoute = true
  for (const path of [...Object.values(ownPaths), captchaAlias])
    nodeAt(root, path).isEndpoint = true
  return root
}

function createNode(): ServedNode {
  return { below: new Map(), isRoute: false, isEndpoint: false }
}

function nodeAt(root: ServedNode, path: string): ServedNode {
  let node = root
  for (const segment of path === '/' ? [] : path.split('/').slice(1)) {
    const next = node.below.get(segment) ?? createNode()
    node.below.set(segment, next)
    node = next
  }
  return node
}

/** The first part of a pattern that leaves what is served; `undefined` when a path of it is served. */
function unservedPart(root: ServedNode, pattern: string): string | undefined {
  if (isRemoved(pattern)) return undefined
  const shape = shapeOf(pattern)
  let nodes: readonly ServedNode[] = [root]
  for (const [at, segment] of shape.segments.entries()) {
    if (nodes.some(({ isRoute }) => isRoute)) return undefined
    const next = nodes.flatMap(({ below }) =>
      segment === undefined ? [...below.values()] : (below.get(segment) ?? []),
    )
    if (next.length === 0) return partOf(pattern, at)
    nodes = next
  }
  return nodes.some((node) => isServed(node, shape)) ? undefined : pattern
}

function isServed(node: ServedNode, { tail, prefix }: PatternShape): boolean {
  if (node.isRoute) return true
  if (tail === 'end') return node.isEndpoint
  return [...node.below.keys()].some((segment) => segment.startsWith(prefix))
}

function partOf(pattern: string, at: number): string {
  return pattern
    .split('/')
    .slice(0, at + 2)
    .join('/')
}

function howMany(others: number): string {
  if (others === 0) return ''
  return ` (and ${others.toLocaleString('en')} more ${others === 1 ? 'line' : 'lines'} below it)`
}

/** A policy can have as many groups as lines, and each is compared with every route. */
const mostCompared = 100

/** The route that is spelled similarly, else the one with the most segments in common. */
function nearestRoute(path: string, routes: readonly string[]): string {
  const similar = nearest(path, routes)
  if (similar !== undefined) return `; did you mean the route ${quote(similar)}?`
  const segments = path.split('/')
  let best = { route: '', common: -1 }
  for (const route of routes) {
    const theirs = route.split('/')
    const differs = theirs.findIndex((segment, at) => segment !== segments[at])
    const common = differs === -1 ? theirs.length : differs
    if (common > best.common) best = { route, common }
  }
  return `; the nearest route is ${quote(best.route)}`
}
