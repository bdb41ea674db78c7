import type { Problem } from '../../kernel/errors.ts'
import { didYouMean } from '../../kernel/suggest.ts'
import type { Expectation } from '../expectations/test-suite.ts'
import { hasDomainColumn } from '../model/domain-column.ts'
import { createLocate, type Finding, findingCodes } from '../review/finding.ts'
import { quote } from '../rule/rule.ts'
import { activeAt } from '../set/active.ts'
import { byPlace, type PolicyFile, type PolicySet } from '../set/policy-set.ts'
import type { Tick } from '../steps.ts'
import { checkDenies, checkDenySpelling } from './denies.ts'
import { checkDomainRoles, checkDomainRules, checkDomainWildcards } from './domains.ts'
import { checkDuplicates } from './duplicates.ts'
import { checkExclusions } from './exclusions.ts'
import { checkExpiry } from './expiry.ts'
import { checkNewRoles, checkUnassignedRoles, type KnownRoles } from './known-roles.ts'
import { namedRoles } from './named-roles.ts'
import { checkRoles, type MentionedRole } from './roles.ts'
import { checkServedPaths, type ServedRoutes } from './served-paths.ts'
import { checkSimilarRoles } from './similar-roles.ts'
import { checkOpenClauses, checkSuperusers } from './superusers.ts'

export type { Finding } from '../review/finding.ts'

/** What a policy is checked against beside itself. */
export interface Surroundings {
  /** Why gateways with this configuration cannot use the policy; unset: nothing is known against it. */
  readonly problem?: (set: PolicySet) => string | undefined
  /** How it breaks its own guardrails, with these tests; unset: they are not decided. */
  readonly broken?: (set: PolicySet, expectations: readonly Expectation[]) => readonly Problem[]
  /** Whether the host of a request is its domain. */
  readonly isHostDomain?: boolean
  /** Unset when they are not known. */
  readonly routes?: ServedRoutes
  /** The roles of the policy before this one. */
  readonly before?: KnownRoles
  /** The roles that accounts can have. */
  readonly assignable?: KnownRoles
}

/** Roles that tests name, and a callback for progress. */
interface CheckOptions extends Surroundings {
  readonly mentioned?: readonly MentionedRole[]
  /** The time of the check; unset: before any line expires. */
  readonly at?: number
  readonly tick?: Tick
}

/**
 * Warnings about a valid policy, in the order of the files. Lines that have expired count only as
 * that. Takes seconds for a hundred thousand
 * rules. Under a model that Casbin evaluates, only its matcher defines what a line means, so fewer
 * things are checked: duplicates, exclusions and the names of roles.
 */
export function checkPolicySet(
  whole: PolicySet,
  files: readonly PolicyFile[],
  {
    mentioned = [],
    tick = () => {},
    at = Number.NEGATIVE_INFINITY,
    ...surroundings
  }: CheckOptions = {},
): readonly Finding[] {
  const set = activeAt(whole, at)
  const { model } = set
  const locate = createLocate(files, hasDomainColumn(model))
  const isRead = model.casbin === undefined
  const { routes, before, assignable } = surroundings
  const roles = namedRoles(set)
  const findings = [
    ...checkDuplicates(whole, files, locate),
    ...checkExpiry(whole, at, locate),
    ...(isRead ? checkDomainRules(set, locate, tick) : []),
    ...(isRead ? checkRoles(set, mentioned, locate) : []),
    ...checkDomainRoles(set, locate),
    ...checkDomainWildcards(set, locate),
    ...(isRead ? checkDenies(set, locate) : checkDenySpelling(set, locate)),
    ...(before === undefined ? [] : checkNewRoles(roles, before, locate)),
    ...(assignable === undefined ? [] : checkUnassignedRoles(set, roles, assignable, locate)),
    ...checkSuperusers(set, files, locate),
    ...checkOpenClauses(set, files),
    ...checkExclusions(set, locate),
    ...(isRead && routes !== undefined ? checkServedPaths(set, routes, locate) : []),
  ]
  const similar = checkSimilarRoles(roles, assignable?.roleKeys ?? new Set(), locate)
  return withoutIgnored([...findings, ...notDoubtedYet(similar, findings)], files).toSorted(byPlace)
}

/** The warnings about role keys that the policy before this one does not name. */
export function checkAgainst(
  before: KnownRoles,
  set: PolicySet,
  files: readonly PolicyFile[],
): readonly Finding[] {
  return withoutIgnored(checkNewRoles(namedRoles(set), before, createLocate(files)), files)
}

/** A role that another warning calls mistyped needs no second warning. */
function notDoubtedYet(similar: readonly Finding[], others: readonly Finding[]) {
  const codes: readonly Finding['code'][] = [
    'deny-without-effect',
    'role-new',
    'role-spelling',
    'role-unassigned',
    'role-wildcard',
    'role-without-rules',
  ]
  const place = ({ file, line }: Finding) => `${file}:${line}`
  const doubted = new Set(others.filter(({ code }) => codes.includes(code)).map(place))
  return similar.filter((finding) => !doubted.has(place(finding)))
}

/** `# postern: ignore CODE` above a line: its author has seen this warning and means the line. */
const ignoreComment = /^\s*#\s*postern:\s*ignore\b(.*)$/

/** The findings that no comment on the line above ignores by their code, and comments that ignore nothing. */
function withoutIgnored(
  findings: readonly Finding[],
  files: readonly PolicyFile[],
): readonly Finding[] {
  const commented = files.filter(({ text }) => /#\s*postern:\s*ignore/.test(text))
  if (commented.length === 0) return findings
  const lines = new Map(commented.map(({ name, text }) => [name, text.split('\n')]))
  const remaining = findings.filter(({ file, line = 0, code }) => {
    return !codesIn(lines.get(file)?.[line - 2]).includes(code)
  })
  return [...remaining, ...[...lines].flatMap(([file, each]) => unknownCodes(file, each))]
}

function codesIn(line = ''): readonly string[] {
  const [, codes = ''] = ignoreComment.exec(line.trim()) ?? []
  return codes.split(/[\s,]+/).filter((code) => code !== '')
}

function unknownCodes(file: string, lines: readonly string[]): readonly Finding[] {
  const known: readonly string[] = findingCodes
  return lines.flatMap((line, index) =>
    codesIn(line)
      .filter((code) => !known.includes(code))
      .map((code) => {
        const message = `ignored: ${quote(code)} is not a code of a warning${didYouMean(code, known)}`
        return { file, line: index + 1, column: 1, code: 'not-read', message } as const
      }),
  )
}
