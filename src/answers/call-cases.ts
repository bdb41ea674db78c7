import { METHODS as parsedMethods } from 'node:http'
import { isRefusedMethod } from '../admission/classify.ts'
import type { AccessRoute } from '../admission/routes.ts'
import { canonicalPath, everyAllowance } from '../policy/rule/canonical-path.ts'
import { methodsOf } from '../policy/rule/methods.ts'
import { ANY_METHOD, METHODS, type Rule } from '../policy/rule/rule.ts'
import { createPathCases } from './path-cases.ts'
import { type Scope, type Standing, standingOf } from './query-scope.ts'

/** A method and a path pattern, as a rule or an exclusion names them. */
export interface Operation {
  readonly method: string
  readonly path: string
}

/** A key that is equal for `/a/:id` and `/a/:name`. Sorts by path. */
export function operationKey({ method, path }: Operation): string {
  return `${path.replaceAll(/\/:[^/]*/g, '/:')} ${method}`
}

/** One call that stands for a case of an operation, and the rules that match its path. */
export interface CallCase {
  readonly method: string
  readonly path: string
  readonly standing: Standing
  readonly rules: readonly Rule[]
}

/** Visits the cases of an operation. Returns whether they stand for all of its calls. */
type CallCases = (operation: Operation, visit: (call: CallCase) => void) => boolean

/**
 * Splits the calls of an operation into cases that all roles are treated alike in. Under a model that
 * Casbin evaluates, only its matcher knows the cases, so that an example or two stand for none but
 * themselves.
 */
export function createCallCases(scope: Scope): CallCases {
  const { set } = scope.policies
  const everyMethod = methodsToAsk(scope.admission.routes)
  const isIndexed = set.model.casbin === undefined
  const pathCases = isIndexed ? createPathCases(set, scope.admission) : undefined

  /** The resources of a group: with `g2, /orders/:id, sales`, a rule may be about `sales`. */
  const groups = Map.groupBy(set.inheritances, ({ parentKey }) => parentKey)
  const membersOf = (name: string) =>
    (groups.get(name) ?? [])
      .filter(({ relation }) => relation !== undefined)
      .map((link) => link.roleKey)

  return ({ method, path }, visit) => {
    const ask = (each: string, rules: readonly Rule[]) => {
      for (const verb of pathCases === undefined
        ? namedMethods(method)
        : askedMethods(method, everyMethod)) {
        const standing = standingOf(scope, { method: verb, path: each })
        visit({ method: verb, path: each, standing, rules })
      }
    }
    if (pathCases !== undefined) return pathCases(path, ask)
    for (const each of [path, ...membersOf(path)]) {
      const example = examplePath(each)
      if (example !== undefined) ask(example, [])
    }
    return false
  }
}

/** Every method that a rule or a route names, and one that stands for all others. */
function methodsToAsk(routes: readonly AccessRoute[]): readonly string[] {
  const named = new Set([...METHODS, ...routes.flatMap(({ methods = [] }) => methods)])
  const other = parsedMethods.find((method) => !named.has(method) && !isRefusedMethod(method))
  return [...named, ...(other === undefined ? [] : [other])].filter(
    (method) => !isRefusedMethod(method),
  )
}

function askedMethods(text: string, everyMethod: readonly string[]): readonly string[] {
  const methods = methodsOf(text)
  return methods.includes(ANY_METHOD) ? everyMethod : [...new Set(methods)]
}

/** The methods in the column of a rule that Casbin evaluates: `GET`, `(GET)|(POST)` or a wildcard. */
function namedMethods(text: string): readonly string[] {
  const named = METHODS.filter((method) => text.split(/\W+/).includes(method))
  return named.length > 0 ? named : ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
}

/** A path that the text probably matches; `undefined` for an expression. */
function examplePath(text: string): string | undefined {
  const filled = text.replace(/\/(?::\w+|\{\w+\})(?=\/|$)/g, '/x').replace(/\*$/, 'x')
  if (!filled.startsWith('/') || /[()[\]{}^$|\\?+*]/.test(filled)) return undefined
  return canonicalPath(filled, everyAllowance)
}
