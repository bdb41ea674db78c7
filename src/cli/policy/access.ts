import type { AccessChange, AccessDiff, Grant, Severity } from '../../policy/diff/access-change.ts'
import { diffPolicies } from '../../policy/diff/diff.ts'
import type { PolicySet } from '../../policy/set/policy-set.ts'
import { count, formatTable } from '../format.ts'
import type { Io } from '../io.ts'
import { createProgress, percentOf } from '../progress.ts'

/** Compares two policies and shows the progress on a terminal. */
export function compareAccess(from: PolicySet, to: PolicySet, io: Io): AccessDiff {
  const progress = createProgress(io)
  const words = percentOf('comparing access')
  const diff = diffPolicies(from, to, (done, total) => progress.show(() => words(done, total)))
  progress.end()
  return diff
}

/**
 * What roles gain (`+`) and lose (`-`), a line for each changed line of the policy, most severe first.
 * The verdict is last, where a person who is asked to publish sees it.
 */
export function formatAccess(diff: AccessDiff): string {
  const { from, to, changes } = diff
  if (changes.length === 0) {
    return from === to
      ? `no difference: both sides are ${from}\n`
      : `${from} -> ${to}: ${verdictOf(diff)}\n`
  }
  return [
    `${from} -> ${to}\n`,
    formatTable(changes.map(rowOf), '  '),
    `${verdictOf(diff)}: ${summaryOf(changes)}\n`,
  ].join('')
}

/** What the comparison means, in a few words. */
export function verdictOf({ changes, widened }: AccessDiff): string {
  if (changes.length === 0) return 'access stays the same'
  return widened ? 'access widens' : 'access narrows'
}

function rowOf(change: AccessChange): readonly string[] {
  const { sign, who, what, notes } = describeChange(change)
  const { file, line } = change.origin
  return [sign, who, ...what, `${file}:${line}`, notes.join(', ')]
}

/** A change in words: who gains (`+`) or loses (`-`) what, and what a reviewer should know about it. */
export function describeChange(change: AccessChange) {
  const { direction, cause, roleKey, parentKey, shares, text } = change
  const grants = shares[0]?.grants ?? []
  const [grant] = grants
  const isInheritance = cause === 'inheritance'
  return {
    sign: direction === 'gain' ? '+' : '-',
    who: roleKey ?? (cause === 'exclusion' ? 'EVERYONE' : 'UNKNOWN'),
    what: isInheritance
      ? ['inherits', parentKey ?? '']
      : [grant?.methods.join('|') ?? '', grant?.path ?? ''],
    notes: [
      ...meaningOf(change),
      ...(isInheritance ? [grantsInWords(grants)] : []),
      ...heirsOf(change),
      ...(isInheritance || cause === 'superuser' || grant === undefined ? [] : exampleOf(grant)),
      ...(text === undefined ? [] : [text]),
      ...(grants.every(({ certain }) => certain) ? [] : [uncertain(cause)]),
    ],
  } as const
}

/** What a line means that is not an allow rule which came or went. */
function meaningOf({ cause, direction, line }: AccessChange): readonly string[] {
  if (cause === 'superuser') {
    return [
      direction === 'gain' ? 'SUPERUSER: MAY MAKE EVERY CALL' : 'no longer may make every call',
    ]
  }
  if (cause === 'exclusion') {
    return [direction === 'gain' ? 'NO PERMISSION CHECK ANY MORE' : 'now requires a permission']
  }
  if (cause === 'deny') return [line === 'removed' ? 'no longer denied' : 'now denied']
  return cause === 'inheritance' && line === 'removed' ? ['no longer'] : []
}

/** The roles that gain or lose with the one that the line names. */
function heirsOf({ shares, roleKey }: AccessChange): readonly string[] {
  const [first, ...others] = shares
  const all = shares.flatMap(({ roles }) => roles)
  const heirs = all.filter((each) => each !== roleKey).length
  if (roleKey === undefined || heirs === 0 || first === undefined) return []
  const isIncluded = heirs < all.length
  const unlike = others.reduce((sum, { roles }) => sum + roles.length, 0)
  const words = count(heirs, 'role that inherits it', 'roles that inherit it')
  const part = unlike === 0 ? '' : ` (${unlike} of them differently)`
  return [`${isIncluded ? 'and' : 'only'} ${words}${part}`]
}

/** `12 rules: GET|PUT /api/v1/orders/:id, …` */
function grantsInWords(grants: readonly Grant[]): string {
  const each = grants.map(({ methods, path }) => `${methods.join('|')} ${path}`)
  return `${count(grants.length, 'rule')}: ${each.join(', ')}`
}

function uncertain(cause: AccessChange['cause']): string {
  return cause === 'casbin'
    ? 'uncertain: only Casbin can evaluate this line'
    : 'uncertain: search limit reached'
}

function exampleOf({ example, path }: Grant): readonly string[] {
  if (example === undefined || example.path === path) return []
  return [`for example ${example.method} ${example.path}`]
}

/** `3 gains (1 without a permission check, 2 of changing methods), 1 loss`. */
export function summaryOf(changes: readonly AccessChange[]): string {
  const bySeverity = Map.groupBy(changes, ({ severity }) => severity)
  const losses = bySeverity.get('loss')?.length ?? 0
  const kinds = severities.flatMap(([severity, words]) => {
    const number = bySeverity.get(severity)?.length ?? 0
    return number === 0 ? [] : [`${number.toLocaleString('en-US')} ${words}`]
  })
  const gains = count(changes.length - losses, 'gain')
  const detail = kinds.length === 0 ? '' : ` (${kinds.join(', ')})`
  return `${gains}${detail}, ${count(losses, 'loss', 'losses')}`
}

const severities: readonly (readonly [Severity, string])[] = [
  ['superuser', 'of superusers'],
  ['unchecked', 'without a permission check'],
  ['wide', 'of wildcards'],
  ['changing', 'of methods that change data'],
  ['reading', 'of reading'],
  ['uncertain', 'uncertain'],
]
