import type { Tick } from '../rule/tick.ts'
import type { PolicyFile, PolicySet } from '../set/policy-set.ts'
import { checkDenies, checkDenySpelling } from './check-denies.ts'
import { checkDuplicates } from './check-duplicates.ts'
import { checkExclusions } from './check-exclusions.ts'
import { checkRoles, type MentionedRole } from './check-roles.ts'
import { checkRules } from './check-rules.ts'
import { createLocate, type Finding } from './finding.ts'

export type { Finding } from './finding.ts'

/** What the check can also look at, and whom it tells how far it is. */
interface CheckOptions {
  readonly mentioned?: readonly MentionedRole[]
  readonly tick?: Tick
}

/**
 * What is probably not meant in a policy that can be used, in the order of the files. Errors are
 * not here: `parsePolicySet` refuses what has any. Takes seconds at a hundred thousand rules. Under
 * a model that casbin answers, rules and roles are not checked, except for mistyped roles in deny rules.
 */
export function checkPolicySet(
  set: PolicySet,
  files: readonly PolicyFile[],
  { mentioned = [], tick = () => {} }: CheckOptions = {},
): readonly Finding[] {
  const locate = createLocate(files)
  // What a line means under a model that casbin answers is known to its matcher alone.
  const isRead = set.model.casbin === undefined
  return [
    ...checkDuplicates(set, files, locate),
    ...(isRead ? checkRules(set, locate, tick) : []),
    ...(isRead ? checkRoles(set, mentioned, locate) : []),
    ...(isRead ? checkDenies(set, locate) : checkDenySpelling(set, locate)),
    ...checkExclusions(set, locate),
  ].toSorted(byPlace)
}

function byPlace(a: Finding, b: Finding): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1
  return (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0)
}
