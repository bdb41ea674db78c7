import { type AccessChange, type AccessDiff, diffPolicies } from '../../policy/review/diff.ts'
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

/** What roles gain (`+`) and lose (`-`), a line each, what everyone gains first. */
export function formatAccess({ from, to, gains, losses, widened }: AccessDiff): string {
  const total = gains.length + losses.length
  if (from === to && total === 0) return `no difference: both sides are ${from}\n`
  const verdict = widened ? 'access widens' : total > 0 ? 'access narrows' : 'access stays the same'
  return [
    `${from} -> ${to}: ${verdict}`,
    total === 0
      ? '\n'
      : ` (${count(gains.length, 'gain')}, ${count(losses.length, 'loss', 'losses')})\n`,
    formatTable(rowsOf('+', gains), '  '),
    notShown(gains, 'gains'),
    formatTable(rowsOf('-', losses), '  '),
    notShown(losses, 'losses'),
  ].join('')
}

const maxShown = 100

function notShown(changes: readonly AccessChange[], what: string): string {
  const more = changes.length - maxShown
  return more > 0 ? `  … and ${more} more ${what}: --output json lists all\n` : ''
}

function rowsOf(sign: '+' | '-', changes: readonly AccessChange[]) {
  return changes.slice(0, maxShown).map((change) => {
    const { roleKey, methods, path, origin, inheritedFrom, by } = change
    const notes = [
      ...(by === 'exclusion' ? [everyone[sign]] : []),
      ...(inheritedFrom === undefined ? [] : [`inherited from ${inheritedFrom}`]),
      ...exampleOf(change),
      ...(change.certain ? [] : [uncertain[by]]),
    ]
    const who = roleKey ?? (by === 'exclusion' ? 'EVERYONE' : 'UNKNOWN')
    return [sign, who, methods.join('|'), path, `${origin.file}:${origin.line}`, notes.join(', ')]
  })
}

const everyone = {
  '+': 'NO PERMISSION CHECK ANY MORE',
  '-': 'now requires a permission',
} as const

const uncertain = {
  rule: 'uncertain: search limit reached',
  exclusion: 'uncertain: search limit reached',
  casbin: 'uncertain: only Casbin can evaluate this line',
} as const

function exampleOf({ example, path }: AccessChange): readonly string[] {
  if (example === undefined || example.path === path) return []
  return [`for example ${example.method} ${example.path}`]
}
