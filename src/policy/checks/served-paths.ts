import { captchaAlias, isRemoved, ownPaths } from '../../kernel/endpoints.ts'
import { nearest } from '../../kernel/suggest.ts'
import type { Finding, Locate } from '../review/finding.ts'
import { createNode, place, shapeOf, visitOverlapping } from '../review/pattern-tree.ts'
import { methodsOf } from '../rule/methods.ts'
import { ANY_METHOD, type Exclusion, quote, type Rule } from '../rule/rule.ts'
import type { PolicySet } from '../set/policy-set.ts'

/** What a route matches, and what it requires of a request. */
interface ServedRoute {
  readonly path: string
  readonly access: string
  readonly match?: 'prefix' | 'exact'
  readonly hosts?: readonly string[]
  readonly methods?: readonly string[]
}

/** The routes of a configuration. */
export interface ServedRoutes {
  readonly all: readonly ServedRoute[]
  /** Routes that serve at least one path of a pattern. */
  readonly serving: (pattern: string) => readonly ServedRoute[]
  /** A route in messages. */
  readonly label: (route: ServedRoute) => string
}

type Line = Rule | Exclusion

/**
 * Finds rules and exclusions on paths that no route serves: permitted callers get 404, and a mistyped
 * path denies what its author allowed. Also those on routes that do not ask the policy. One warning for
 * each group of paths, such as a service that this gateway does not have.
 */
export function checkServedPaths(
  { rules, exclusions }: PolicySet,
  routes: ServedRoutes,
  locate: Locate,
): Finding[] {
  const problemOf = createProblemOf(routes)
  const groups = new Map<string, { readonly problem: PathProblem; readonly lines: Line[] }>()
  for (const line of [...rules, ...exclusions]) {
    const problem = problemOf(line)
    if (problem === undefined) continue
    const key = `${problem.code} ${problem.place}`
    const known = groups.get(key)
    if (known === undefined) groups.set(key, { problem, lines: [line] })
    else known.lines.push(line)
  }
  return [...groups.values()].flatMap(({ problem, lines }, index): Finding[] => {
    const [first, ...others] = lines
    if (first === undefined) return []
    // A policy can have as many groups as lines, and each is compared with every route.
    const isCompared =
      problem.code === 'unserved-path' && !problem.isForOtherMethods && index < mostCompared
    const hint = isCompared ? nearestRoute(problem.place, routes.all) : ''
    const message = `${problem.message}${howMany(others.length)}${hint}`
    const related = others.map(({ origin }) => origin)
    const at = locate(first.origin, 'roleKey' in first ? 'path' : 'line')
    return [{ ...at, code: problem.code, message, related }]
  })
}

const mostCompared = 100

interface PathProblem {
  readonly code: 'unserved-path' | 'never-applies'
  /** What all lines of a group have in common. */
  readonly place: string
  readonly message: string
  /** The route is right, and its methods are not: no other route comes to mind. */
  readonly isForOtherMethods?: true
}

/** Most paths of a large policy begin like another one, so that few are compared with the routes. */
function createProblemOf({
  all,
  serving,
  label,
}: ServedRoutes): (line: Line) => PathProblem | undefined {
  const isOwn = createIsOwn()
  const decided = decidedPrefixes(all)
  const unserved = new Map<string, PathProblem>()

  return ({ path, method }) => {
    if (prefixesOf(path).some((prefix) => decided.has(prefix))) return undefined
    if (isRemoved(path) || isOwn(path)) return undefined
    for (const prefix of prefixesOf(path)) {
      const known = unserved.get(prefix)
      if (known !== undefined) return known
    }
    const routes = serving(path)
    const [first] = routes
    if (first === undefined) {
      const place = unservedPart(path, serving)
      const message = `no route serves ${quote(place)}, so permitted callers get 404`
      const problem = { code: 'unserved-path', place, message } as const
      // `/api` may have no route of its own, and yet routes below it.
      if (serving(`${place}/*`).length === 0) unserved.set(place, problem)
      return problem
    }
    const fitting = routes.filter((route) => isForMethods(route, method))
    const [open] = fitting
    if (open === undefined) {
      const place = `${method} ${path}`
      const message = `no route serves ${quote(place)}: ${quote(label(first))} is for ${first.methods?.join(', ')} only, so permitted callers get 404`
      return { code: 'unserved-path', place, message, isForOtherMethods: true }
    }
    if (fitting.some(({ access }) => access === 'permitted')) return undefined
    const place = label(open)
    const message = `no effect: the route ${quote(place)} has access ${open.access}, so the policy does not decide there`
    return { code: 'never-applies', place, message }
  }
}

/** The routes that ask the policy about everything below them. */
function decidedPrefixes(routes: readonly ServedRoute[]): ReadonlySet<string> {
  const asking = routes.filter(
    ({ access, match, methods }) =>
      access === 'permitted' && match !== 'exact' && methods === undefined,
  )
  const open = routes.filter(({ access }) => access !== 'permitted')
  const paths = asking.map(({ path }) => path)
  return new Set(paths.filter((path) => !open.some((each) => each.path.startsWith(`${path}/`))))
}

/** Whether a route serves one of the methods of a line. A text that is not a list may mean any. */
function isForMethods({ methods }: ServedRoute, text: string): boolean {
  if (methods === undefined) return true
  const wanted = methodsOf(text)
  return wanted.includes(ANY_METHOD) || wanted.some((method) => methods.includes(method))
}

/** `/a`, `/a/b` and `/a/b/c` for `/a/b/c`. */
function prefixesOf(path: string): readonly string[] {
  const prefixes: string[] = []
  for (let end = path.indexOf('/', 1); end !== -1; end = path.indexOf('/', end + 1)) {
    prefixes.push(path.slice(0, end))
  }
  return [...prefixes, path]
}

/** Whether a pattern matches the path of an endpoint that Postern serves itself. */
function createIsOwn(): (pattern: string) => boolean {
  const tree = createNode<true>()
  for (const path of [...Object.values(ownPaths), captchaAlias])
    place(tree, shapeOf(path), () => true)
  return (pattern) => {
    let found = false
    visitOverlapping(tree, shapeOf(pattern), () => {
      found = true
    })
    return found
  }
}

/** The first part of a pattern below which no route serves anything. */
function unservedPart(pattern: string, serving: ServedRoutes['serving']): string {
  const isUnserved = (part: string) =>
    serving(part).length === 0 && serving(`${part}/*`).length === 0
  return prefixesOf(pattern).slice(0, -1).find(isUnserved) ?? pattern
}

function howMany(others: number): string {
  if (others === 0) return ''
  return ` (and ${others.toLocaleString('en')} more ${others === 1 ? 'line' : 'lines'} below it)`
}

/** The route that is spelled similarly, else the one with the most segments in common. */
function nearestRoute(path: string, routes: readonly ServedRoute[]): string {
  const paths = routes.map((route) => route.path)
  const similar = nearest(path, paths)
  if (similar !== undefined) return `; did you mean the route ${quote(similar)}?`
  const segments = path.split('/')
  let best = { route: '', common: -1 }
  for (const route of paths) {
    const routeSegments = route.split('/')
    const differs = routeSegments.findIndex((segment, at) => segment !== segments[at])
    const common = differs === -1 ? routeSegments.length : differs
    if (common > best.common) best = { route, common }
  }
  return `; the nearest route is ${quote(best.route)}`
}
