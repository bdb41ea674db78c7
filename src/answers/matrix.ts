import { routeLabel } from '../admission/route-label.ts'
import type { Access } from '../admission/routes.ts'
import type { Verdict } from '../admission/verdict.ts'
import { decide } from '../policy/decide.ts'
import { builtInExclusions } from '../policy/set/built-in-exclusions.ts'
import type { PolicySet } from '../policy/set/policy-set.ts'
import { type Asked, rolesIn, unrestricted } from './asked.ts'
import { type CallCase, createCallCases, type Operation } from './call-cases.ts'
import { createLineages } from './lineage.ts'
import { hasMethod } from './matching-rules.ts'

/**
 * What a role may do with an operation, and through what:
 *
 *   own, inherited    its own rule, or only rules of roles that it inherits from, allow all calls
 *   superuser         a clause of the matcher allows the role every call
 *   everyone          all calls need no permission: an open route, an exclusion, an own endpoint
 *   part-own, part-inherited, part-everyone    the same for some of the calls
 *   denied            a deny rule takes what an allow rule of the role allows
 *   none              no rule allows any of the calls
 */
export const cellKinds = [
  'none',
  'own',
  'inherited',
  'superuser',
  'everyone',
  'part-own',
  'part-inherited',
  'part-everyone',
  'denied',
] as const
export type CellKind = (typeof cellKinds)[number]

type OperationAccess = Access | 'exclusion' | 'endpoint'

/** One row: a method and path pattern that rules or exclusions name. */
export interface MatrixOperation extends Operation {
  /** The routes and own endpoints that serve it. */
  readonly servedBy: readonly string[]
  /** What callers need: a permission, or what lets everyone through. */
  readonly access: readonly OperationAccess[]
  /** Whether the cells hold for all calls, and not for examples only. */
  readonly isExact: boolean
  /** A kind for each role, as its place in `cellKinds`. */
  readonly cells: Uint8Array
}

/** Roles and operations. `admin`, which may do everything, has no column. */
export interface Matrix {
  readonly roles: readonly string[]
  readonly operations: readonly MatrixOperation[]
  /** Left out: no route serves any of their calls, or the gateway refuses all of them. */
  readonly unserved: readonly Operation[]
  /** Left out: Casbin evaluates the model, and the path of the rule is an expression. */
  readonly unasked: readonly Operation[]
}

/** What every role may do with every operation that a rule or an exclusion names. */
export function matrix(asked: Asked): Matrix {
  const { set } = asked.policies
  const roles = rolesIn(set)
  const callCases = createCallCases(asked)
  const tally = createTally(asked, roles)
  const operations: MatrixOperation[] = []
  const unserved: Operation[] = []
  const unasked: Operation[] = []

  for (const { method, path } of operationsIn(set)) {
    let isAsked = false
    tally.start()
    const isExact = callCases({ method, path }, (call) => {
      isAsked = true
      tally.add(call)
    })
    const row = tally.finish()
    if (row !== undefined) operations.push({ method, path, isExact, ...row })
    else (isAsked ? unserved : unasked).push({ method, path })
  }
  return { roles, operations, unserved, unasked }
}

/** How large the matrix of a policy is at most. */
export function matrixSize(set: PolicySet): {
  readonly roles: number
  readonly operations: number
} {
  return { roles: rolesIn(set).length, operations: operationsIn(set).length }
}

/** Every operation once, by path: `/a/:id` and `/a/:name` are the same one. */
function operationsIn({ rules, exclusions }: PolicySet): readonly Operation[] {
  const distinct = new Map<string, Operation>()
  for (const { method, path } of [...rules, ...exclusions, ...builtInExclusions]) {
    const key = `${path.replaceAll(/\/:[^/]*/g, '/:')} ${method}`
    if (!distinct.has(key)) distinct.set(key, { method, path })
  }
  return [...distinct].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, operation]) => operation)
}

/** Counts the cases of one operation after the other. */
function createTally(asked: Asked, roles: readonly string[]) {
  const { policies } = asked
  const columns = new Map(roles.map((roleKey, at) => [roleKey, at]))
  const lineages = createLineages(policies.set)
  const isIndexed = policies.set.model.casbin === undefined
  const isSuperuser = roles.map((roleKey) => unrestricted(asked, roleKey) !== undefined)
  const allowed = new Uint32Array(roles.length)
  const isOwn = new Uint8Array(roles.length)
  const isDenied = new Uint8Array(roles.length)
  const lastCase = new Uint32Array(roles.length)
  let servedBy = new Set<string>()
  let access = new Set<OperationAccess>()
  let caseNumber = 0
  let total = 0
  let open = 0

  function ask(roleKey: string, { method, path, standing }: CallCase): void {
    const column = columns.get(roleKey)
    if (column === undefined || lastCase[column] === caseNumber) return
    lastCase[column] = caseNumber
    const { host } = standing.verdict
    const { allowed: isAllowed, rule } = decide({ roleKey, method, path, host }, policies)
    if (isAllowed) allowed[column] = (allowed[column] ?? 0) + 1
    else if (rule !== undefined) isDenied[column] = 1
    if (isAllowed && rule?.roleKey === roleKey) isOwn[column] = 1
  }

  /** The roles that a rule may apply to. All others are treated alike. */
  function rolesFor({ rules, method }: CallCase): Iterable<string> {
    if (!isIndexed) return roles
    return rules
      .filter((rule) => hasMethod(rule, method))
      .flatMap(({ roleKey }) => lineages.heirs(roleKey))
  }

  return {
    start() {
      allowed.fill(0)
      isOwn.fill(0)
      isDenied.fill(0)
      servedBy = new Set()
      access = new Set()
      total = 0
      open = 0
    },
    add(call: CallCase) {
      const { kind, verdict } = call.standing
      if (kind === 'refused' || verdict.isUnserved) return
      caseNumber++
      total++
      servedBy.add(
        verdict.route === undefined ? (verdict.endpoint?.name ?? '') : routeLabel(verdict.route),
      )
      access.add(kind === 'open' ? openBy(verdict) : 'permitted')
      if (kind === 'open') open++
      else for (const roleKey of rolesFor(call)) ask(roleKey, call)
    },
    finish(): Pick<MatrixOperation, 'servedBy' | 'access' | 'cells'> | undefined {
      if (total === 0) return undefined
      const cells = Uint8Array.from(roles, (_, column) => {
        if (isSuperuser[column]) return cellNumber(open === total ? 'everyone' : 'superuser')
        const byRules = allowed[column] ?? 0
        const through = byRules === 0 ? 'everyone' : isOwn[column] === 1 ? 'own' : 'inherited'
        if (byRules + open === total) return cellNumber(through)
        if (byRules + open > 0) return cellNumber(`part-${through}`)
        return cellNumber(isDenied[column] === 1 ? 'denied' : 'none')
      })
      const names = [...servedBy].filter((name) => name !== '')
      return { servedBy: names, access: [...access], cells }
    },
  }
}

function openBy({ route, endpoint, step }: Verdict): OperationAccess {
  if (endpoint !== undefined) return 'endpoint'
  return step === 'route' && route !== undefined ? route.access : 'exclusion'
}

function cellNumber(kind: CellKind): number {
  return cellKinds.indexOf(kind)
}
