import type { PolicyFile, PolicySet } from '../set/policy-set.ts'
import type { Tick } from '../steps.ts'
import { checkDenies, checkDenySpelling } from './check-denies.ts'
import { checkDuplicates } from './check-duplicates.ts'
import { checkExclusions } from './check-exclusions.ts'
import { checkRoles, type MentionedRole } from './check-roles.ts'
import { checkRules } from './check-rules.ts'
import { checkSuperusers } from './check-superusers.ts'
import { createLocate, type Finding } from './finding.ts'

export type { Finding } from './finding.ts'

/** Roles that tests name, and a callback for progress. */
interface CheckOptions {
  readonly mentioned?: readonly MentionedRole[]
  readonly tick?: Tick
}

/**
 * Warnings about a valid policy, in the order of the files. Takes seconds for a hundred thousand
 * rules. Under a model that Casbin evaluates, only duplicates, exclusions and mistyped roles in deny
 * rules are checked.
 */
export function checkPolicySet(
  set: PolicySet,
  files: readonly PolicyFile[],
  { mentioned = [], tick = () => {} }: CheckOptions = {},
): readonly Finding[] {
  const locate = createLocate(files)
  // Under a model that Casbin evaluates, only its matcher defines what a line means.
  const isRead = set.model.casbin === undefined
  return [
    ...checkDuplicates(set, files, locate),
    ...(isRead ? checkRules(set, locate, tick) : []),
    ...(isRead ? checkRoles(set, mentioned, locate) : []),
    ...(isRead ? checkDenies(set, locate) : checkDenySpelling(set, locate)),
    ...checkSuperusers(set, files, locate),
    ...checkExclusions(set, locate),
  ].toSorted(byPlace)
}

function byPlace(a: Finding, b: Finding): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1
  return (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0)
}
