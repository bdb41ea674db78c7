import { type Finding, type Locate, placeOf } from '../review/finding.ts'
import { createGrants } from '../review/grants.ts'
import { type Origin, quote } from '../rule/rule.ts'
import type { PolicySet } from '../set/policy-set.ts'
import { namedRoles } from './named-roles.ts'

/** A role that a policy test names. */
export interface MentionedRole {
  readonly roleKey: string
  /** Where, with the column. */
  readonly at: { readonly file: string; readonly line: number; readonly column: number }
  /** Whether the test declares that no rule names the role. */
  readonly withoutRules: boolean
}

/**
 * Finds roles without rules that a `g` line or a test names, which are usually mistyped; roles that
 * differ from another one only in case, composed or wide letters, or kind of blank; and roles that
 * mix letters of several alphabets.
 */
export function checkRoles(
  set: PolicySet,
  mentioned: readonly MentionedRole[],
  locate: Locate,
): Finding[] {
  const { lineage, rulesOf, superuser } = createGrants(set)
  const isGranted = (roleKey: string) =>
    superuser(roleKey) !== undefined || lineage(roleKey).some((each) => rulesOf(each).length > 0)
  const findings: Finding[] = []
  const seen = new Set<string>()
  const isNew = (roleKey: string) => !seen.has(roleKey) && seen.add(roleKey).size > 0

  for (const { roleKey, parentKey, origin } of set.inheritances) {
    for (const [each, field] of [
      [roleKey, 'role'],
      [parentKey, 'path'],
    ] as const) {
      if (isGranted(each) || hasComment(each) || !isNew(each)) continue
      findings.push({ ...locate(origin, field), code: 'role-without-rules', message: empty(each) })
    }
  }
  for (const { roleKey, at, withoutRules } of mentioned) {
    if (roleKey === 'admin' || withoutRules === !isGranted(roleKey) || !isNew(roleKey)) continue
    const message = withoutRules
      ? `role ${quote(roleKey)} has rules: remove "withoutRules: true"`
      : `${empty(roleKey)}; if you mean that, write "withoutRules: true"`
    findings.push({ ...at, code: 'role-without-rules', message })
  }
  return [...findings, ...twins(set, locate), ...wildcards(set, locate), ...comments(set, locate)]
}

/** `*` matches every method and every path, so people expect it to match every role. */
function wildcards({ rules, inheritances }: PolicySet, locate: Locate): Finding[] {
  const known = new Set<string>()
  return [...rules, ...inheritances].flatMap((line): Finding[] => {
    const { roleKey, origin } = line
    if (!roleKey.includes('*') || known.has(roleKey)) return []
    known.add(roleKey)
    const denies = 'effect' in line && line.effect === 'deny'
    const effect = denies ? 'the rule denies nothing' : 'the rule allows nothing'
    const message = `role ${quote(roleKey)} is compared literally: "*" does not match every role, so ${effect} unless a token has exactly this role key; ${denies ? 'write one rule for each role' : everyCaller}`
    return [{ ...locate(origin, 'role'), code: 'role-wildcard', message }]
  })
}

const everyCaller =
  'to allow a call to every logged-in caller, add it to exclusions.yaml or set "access: authenticated" on its route'

function hasComment(roleKey: string): boolean {
  return /\s#/.test(roleKey)
}

/** Unlike a path or a method, a role key may contain `#`, so the line is valid. */
function comments(set: PolicySet, locate: Locate): Finding[] {
  return [...namedRoles(set).values()]
    .filter(({ roleKey }) => hasComment(roleKey))
    .map(({ roleKey, origin, field }) => {
      const message = `role ${quote(roleKey)} contains " #": if that is a comment, move it to a line of its own`
      return { ...locate(origin, field), code: 'inline-comment', message }
    })
}

function empty(roleKey: string): string {
  return `role ${quote(roleKey)} has no rules, neither its own nor inherited ones`
}

function twins({ rules, inheritances }: PolicySet, locate: Locate): Finding[] {
  const firsts = new Map<string, { roleKey: string; origin: Origin }>()
  const known = new Set<string>()
  return [...rules, ...inheritances].flatMap(({ roleKey, origin }): Finding[] => {
    if (known.has(roleKey)) return []
    known.add(roleKey)
    const mixed = mixedLetters(roleKey)
    if (mixed !== undefined) {
      const message = `role ${quote(roleKey)} mixes Latin and ${mixed} letters, which can look alike: check that tokens use the same spelling`
      return [{ ...locate(origin, 'role'), code: 'role-spelling', message }]
    }
    const folded = roleKey.normalize('NFKC').toLowerCase()
    if (folded === 'admin' && roleKey !== 'admin') {
      const message = `role ${quote(roleKey)} is an ordinary role: only "admin", in exactly this spelling, skips the permission check`
      return [{ ...locate(origin, 'role'), code: 'role-spelling', message }]
    }
    const first = firsts.get(folded)
    if (first === undefined) {
      firsts.set(folded, { roleKey, origin })
      return []
    }
    const message = `role ${quote(roleKey)} differs from ${quote(first.roleKey)} (${placeOf(first.origin)}): role keys are case-sensitive and compared character by character`
    return [{ ...locate(origin, 'role'), code: 'role-spelling', message }]
  })
}

/** Alphabets with letters that look like Latin ones. */
function mixedLetters(roleKey: string): string | undefined {
  if (!/\p{Script=Latin}/u.test(roleKey)) return undefined
  if (/\p{Script=Cyrillic}/u.test(roleKey)) return 'Cyrillic'
  return /\p{Script=Greek}/u.test(roleKey) ? 'Greek' : undefined
}
