import type { Admission } from '../../admission/verdict.ts'
import type { PlacedDiff } from '../../answers/placed-diff.ts'
import { Fault } from '../../errors.ts'
import type { PolicySet } from '../../policy/set/policy-set.ts'
import { type PolicyStore, policyOf } from '../../stores/policies/policy-store.ts'
import type { Io } from '../io.ts'
import { compareAccess, formatAccess } from '../policy/access.ts'

/** The live policy, or why it cannot be compared with; a push then repairs it. */
export async function readLive(
  revision: string | undefined,
  store: PolicyStore,
): Promise<PolicySet | string> {
  if (revision === undefined) return 'nothing is published yet'
  try {
    const document = await store.read(revision)
    if (document === undefined) return `${revision} is live, but its document is lost`
    return policyOf(document)
  } catch (error) {
    // With a cause, Redis itself fails, and not the document in it.
    if (error instanceof Fault && error.cause === undefined) return error.message
    throw error
  }
}

/** Prints what a policy would change; `undefined` when no live policy can be read. */
export function compareWithLive(
  { set, admission }: { readonly set: PolicySet; readonly admission: Admission },
  live: PolicySet | string,
  io: Io,
): PlacedDiff | undefined {
  if (typeof live === 'string') {
    io.err(
      `${live}: all ${set.rules.length} rules and ${set.exclusions.length} exclusions are new\n`,
    )
    return undefined
  }
  const diff = compareAccess({ from: live, to: set }, admission, io)
  io.err(formatAccess(diff))
  return diff
}
