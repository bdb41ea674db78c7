import { routeLabel } from '../admission/route-label.ts'
import type { Access } from '../admission/routes.ts'
import type { Verdict } from '../admission/verdict.ts'
import { decide } from '../policy/decide.ts'
import { builtInExclusions } from '../policy/set/built-in-exclusions.ts'
import type { PolicySet } from '../policy/set/policy-set.ts'
import { type CallCase, createCallCases, type Operation, operationKey } from './call-cases.ts'
import { createLineages } from './lineage.ts'
import { hasMethod } from './matching-rules.ts'
import { fullAccess, rolesIn, type Scope } from './query-scope.ts'

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
  /** Whether the gateway itself responds to some of the calls. */
  readonly isFixedResponse: boolean
  /** Whether the cells hold for all calls, and not for examples only. */
  readonly isExact: boolean
  /** A kind for each role, as its place in `cellKinds`. */
  readonly cells: Uint8Array
}

/** Roles and operations. `admin`, which may do everything, has no column. */
export interface Matrix {
  readonly roles: readonly string[]
  readonly operations: readonly MatrixOperation[]
  /** Left out: no route serves any of their calls. */
  readonly unserved: readonly Operation[]
  /** Left out: the gateway refuses all of their calls to every caller. */
  readonly refused: readonly Operation[]
  /** Left out: Casbin evaluates the model, and the path of the rule is an expression. */
  readonly unasked: readonly Operation[]
  /** Routes that need a permission and serve none of the operations: only `admin` gets through. */
  readonly routesWithoutRule: readonly string[]
}

/**
 * What every role may do with every operation that a rule or an exclusion names, and with those that
 * documents describe, as far as a route serves them.
 */
export function matrix(scope: Scope, documented: readonly Operation[] = []): Matrix {
  const { set } = scope.policies
  const roles = rolesIn(set)
  const callCases = createCallCases(scope)
  const tally = createTally(scope, roles)
  const operations: MatrixOperation[] = []
  const unserved: Operation[] = []
  const refused: Operation[] = []
  const unasked: Operation[] = []
  const serving = new Set<string>()

  const named = distinct(operationsIn(set))
  const isNamed = new Set(named.keys())
  for (const [key, { method, path }] of distinct([...named.values(), ...documented])) {
    let isAsked = false
    let isRefused = true
    tally.start()
    const isExact = callCases({ method, path }, (call) => {
      isAsked = true
      isRefused &&= call.standing.kind === 'refused'
      tally.add(call)
    })
    const row = tally.finish()
    if (row !== undefined) {
      operations.push({ method, path, isExact, ...row })
      // A route that serves documented operations only is still one without a rule.
      if (isNamed.has(key)) for (const label of row.servedBy) serving.add(label)
    } else if (isNamed.has(key))
      (!isAsked ? unasked : isRefused ? refused : unserved).push({ method, path })
  }
  const routesWithoutRule = scope.admission.routes
    .filter(({ access }) => access === 'permitted')
    .map(routeLabel)
    .filter((label) => !serving.has(label))
  return { roles, operations, unserved, refused, unasked, routesWithoutRule }
}

/** How large the matrix of a policy is at most. */
export function matrixSize(
  set: PolicySet,
  documented: readonly Operation[],
): {
  readonly roles: number
  readonly operations: number
} {
  const operations = distinct([...operationsIn(set), ...documented]).size
  return { roles: rolesIn(set).length, operations }
}

function operationsIn({ rules, exclusions }: PolicySet): readonly Operation[] {
  return [...rules, ...exclusions, ...builtInExclusions]
}

/** Every operation once, by path: `/a/:id` and `/a/:name` are the same one. */
function distinct(operations: readonly Operation[]): ReadonlyMap<string, Operation> {
  const found = new Map<string, Operation>()
  for (const { method, path } of operations) {
    const key = operationKey({ method, path })
    if (!found.has(key)) found.set(key, { method, path })
  }
  return new Map([...found].toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** Counts the cases of one operation after the other. */
function createTally(scope: Scope, roles: readonly string[]) {
  const { policies } = scope
  const columns = new Map(roles.map((roleKey, at) => [roleKey, at]))
  const lineages = createLineages(policies.set)
  const isIndexed = policies.set.model.casbin === undefined
  const isSuperuser = roles.map((roleKey) => fullAccess(scope, roleKey) !== undefined)
  const allowed = new Uint32Array(roles.length)
  const isOwn = new Uint8Array(roles.length)
  const isDenied = new Uint8Array(roles.length)
  const lastCase = new Uint32Array(roles.length)
  let servedBy = new Set<string>()
  let access = new Set<OperationAccess>()
  let isFixedResponse = false
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

  /** As a number, which is compared and looked up 400,000 times in a large matrix. */
  function kindOf(column: number): number {
    if (isSuperuser[column]) return open === total ? kindNumbers.everyone : kindNumbers.superuser
    const byRules = allowed[column] ?? 0
    const isWhole = byRules + open === total
    if (byRules === 0) {
      if (open > 0) return isWhole ? kindNumbers.everyone : kindNumbers['part-everyone']
      return isDenied[column] === 1 ? kindNumbers.denied : kindNumbers.none
    }
    if (isOwn[column] === 1) return isWhole ? kindNumbers.own : kindNumbers['part-own']
    return isWhole ? kindNumbers.inherited : kindNumbers['part-inherited']
  }

  return {
    start() {
      allowed.fill(0)
      isOwn.fill(0)
      isDenied.fill(0)
      servedBy = new Set()
      access = new Set()
      isFixedResponse = false
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
      isFixedResponse ||= verdict.route?.respond !== undefined
      access.add(kind === 'open' ? openBy(verdict) : 'permitted')
      if (kind === 'open') open++
      else for (const roleKey of rolesFor(call)) ask(roleKey, call)
    },
    finish(): Omit<MatrixOperation, keyof Operation | 'isExact'> | undefined {
      if (total === 0) return undefined
      const cells = new Uint8Array(roles.length)
      for (const column of isSuperuser.keys()) cells[column] = kindOf(column)
      const names = [...servedBy].filter((name) => name !== '')
      return { servedBy: names, access: [...access], isFixedResponse, cells }
    },
  }
}

function openBy({ route, endpoint, step }: Verdict): OperationAccess {
  if (endpoint !== undefined) return 'endpoint'
  return step === 'route' && route !== undefined ? route.access : 'exclusion'
}

const kindNumbers = Object.fromEntries(cellKinds.map((kind, at) => [kind, at])) as Readonly<
  Record<CellKind, number>
>
