import type { AccessRoute } from '../admission/routes.ts'
import {
  createNode,
  type PatternShape,
  place,
  shapeOf,
  visitOverlapping,
} from '../policy/review/pattern-tree.ts'

/**
 * Finds the routes that serve the paths of patterns: of all routes whose prefix a path has, the one
 * with the longest prefix. A route for certain hosts, methods or one path serves a part of what it
 * overlaps with, and takes nothing from the others: they serve the rest.
 */
export function createServingRoutes(routes: readonly AccessRoute[]) {
  const byPrefix = new Map(routes.filter(isForAll).map((route) => [route.path, route]))
  const tree = createNode<readonly AccessRoute[]>()
  for (const [path, same] of Map.groupBy(routes, (route) => route.path)) {
    const below = same.filter(({ match }) => match !== 'exact')
    place(tree, shapeOf(path === '/' ? '/*' : `${path}/*`), () => below)
    if (path !== '/' || below.length < same.length) place(tree, shapeOf(path), () => same)
  }

  /** The route with the longest prefix that every path with these first segments has. */
  function longest(segments: PatternShape['segments']): AccessRoute | undefined {
    let found = byPrefix.get('/')
    let prefix = ''
    for (const segment of segments) {
      if (segment === undefined) break
      prefix += `/${segment}`
      found = byPrefix.get(prefix) ?? found
    }
    return found
  }

  return (pattern: string) => {
    const shape = shapeOf(pattern)
    const overlapping = new Set<AccessRoute>()
    visitOverlapping(tree, shape, (same) => {
      for (const route of same) overlapping.add(route)
    })
    const serving = [...overlapping].filter((route) => {
      if (!isForAll(route)) return true
      // The part of the pattern that has this prefix may lie under a longer one as a whole.
      const prefix = route.path === '/' ? [] : route.path.split('/').slice(1)
      return longest([...prefix, ...shape.segments.slice(prefix.length)]) === route
    })
    return {
      /** Each serves at least one path of the pattern; sorted by path. */
      routes: serving.sort((a, b) => (a.path < b.path ? -1 : 1)),
      /** Whether no route serves some paths of the pattern. */
      isUnserved: longest(shape.segments) === undefined,
    }
  }
}

function isForAll({ hosts, methods, match }: AccessRoute): boolean {
  return hosts === undefined && methods === undefined && match !== 'exact'
}
