import type { AccessRoute } from '../admission/routes.ts'
import { type Admission, evaluate } from '../admission/verdict.ts'
import { compileAt } from '../policy/engine/compile.ts'
import type { Expectation } from '../policy/expectations/test-suite.ts'
import type { PolicySet } from '../policy/set/policy-set.ts'
import { createOperationTree } from './coverage/operation-tree.ts'
import { unnamedRole } from './query-scope.ts'

interface Tested {
  readonly set: PolicySet
  readonly admission: Admission
  readonly expectations: readonly Expectation[]
  /** Milliseconds since 1970. */
  readonly now: number
}

/** The routes that no test is about. */
export function untestedRoutes(tested: Tested): readonly AccessRoute[] {
  const { set, admission, expectations, now } = tested
  const policies = compileAt(set, now)
  const found = new Set(
    expectations.map(({ method, path, host, domain }) => {
      const call = { method, path, ...(host && { host }), ...(domain && { domain }) }
      return evaluate({ roleKey: unnamedRole, ...call }, admission, policies).route
    }),
  )
  return admission.routes.filter((route) => !found.has(route))
}

/** The operations, with paths such as `/orders/{id}`, that no test is about. */
export function untestedOperations<
  Operation extends { readonly method: string; readonly path: string },
>(operations: readonly Operation[], expectations: readonly Expectation[]): readonly Operation[] {
  const tree = createOperationTree(operations)
  const found = new Set(expectations.flatMap(({ method, path }) => tree.ownersOf(method, path)))
  return operations.filter((operation) => !found.has(operation))
}
