import type { CallAccess } from './call-access.ts'
import type { DocumentedOperation, OperationAccess, ValuesAccess } from './operation-access.ts'

/**
 * What deserves a look about an operation. The document declares security, but the call needs no
 * token (`public`) or no permission (`authenticated`); no caller may make it, because the gateway
 * refuses it (`refused`) or has no route (`unserved`); only `admin` may (`admin`); roles may with some
 * values of its parameters only (`some`); or it was too expensive to find out (`undecided`).
 */
export type FindingKind = CallAccess | 'some' | 'undecided'

export interface OperationFinding<Op> {
  readonly kind: Exclude<FindingKind, 'roles'>
  readonly operation: Op
  /** The call that shows it. */
  readonly shown?: ValuesAccess
  /** Whether it holds for every value of the parameters. */
  readonly isForAll: boolean
  readonly isComplete: boolean
}

const callable: ReadonlySet<CallAccess> = new Set(['public', 'authenticated', 'roles'])

/** What deserves a look about one operation, or `undefined`. */
export function findingOf<Op extends DocumentedOperation>(
  access: OperationAccess<Op>,
): OperationFinding<Op> | undefined {
  const { operation, kinds, isComplete } = access
  const about = { operation, isComplete, isForAll: kinds.length === 1 }
  const [widest] = kinds
  if (widest === undefined) return { ...about, kind: 'undecided' }

  if (operation.declaresSecurity && isTooOpen(widest)) {
    return { ...about, kind: widest.access as 'public' | 'authenticated', shown: widest }
  }
  if (!callable.has(widest.access)) {
    const kind = widest.access as 'admin' | 'unserved' | 'refused'
    return { ...about, kind, shown: widest }
  }
  const closed = kinds.find((each) => !callable.has(each.access))
  return closed === undefined ? undefined : { ...about, kind: 'some', shown: closed }
}

/** Specification, Permission exclusion list: every caller may log out and see their own profile; our own endpoints are no findings. */
function isTooOpen({ access, verdict }: ValuesAccess): boolean {
  return access === 'public' || (access === 'authenticated' && verdict.endpoint === undefined)
}
