import { type AccessChange, type AccessDiff, diffPolicies } from '../../policy/review/diff.ts'
import type { PolicySet } from '../../policy/set/policy-set.ts'
import { count, formatTable } from '../format.ts'
import type { Io } from '../io.ts'
import { createProgress, percentOf } from '../progress.ts'

/** Compares two policies, and tells a person who waits how far it is. */
export function compareAccess(from: PolicySet, to: PolicySet, io: Io): AccessDiff {
  const progress = createProgress(io)
  const words = percentOf('comparing access')
  const diff = diffPolicies(from, to, (done, total) => progress.show(() => words(done, total)))
  progress.end()
  return diff
}

/** What roles gain (`+`) and lose (`-`), a line each, what everybody gains first. */
export function formatAccess({ from, to, gains, losses, widened }: AccessDiff): string {
  const total = gains.length + losses.length
  if (from === to && total === 0) return `${from} on both sides: no difference\n`
  const verdict = widened ? 'access widens' : total > 0 ? 'access narrows' : 'access stays the same'
  return [
    `${from} -> ${to}: ${verdict}`,
    total === 0
      ? '\n'
      : ` (${count(gains.length, 'gain')}, ${count(losses.length, 'loss', 'losses')})\n`,
    formatTable(rowsOf('+', gains), '  '),
    moreThanShown(gains, 'gains'),
    formatTable(rowsOf('-', losses), '  '),
    moreThanShown(losses, 'losses'),
  ].join('')
}

const mostShown = 100

function moreThanShown(changes: readonly AccessChange[], what: string): string {
  const more = changes.length - mostShown
  return more > 0 ? `  … and ${more} more ${what}: --output json has all\n` : ''
}

function rowsOf(sign: '+' | '-', changes: readonly AccessChange[]) {
  return changes.slice(0, mostShown).map((change) => {
    const { roleKey, methods, path, origin, inheritedFrom, by } = change
    const notes = [
      ...(by === 'exclusion' ? [everybody[sign]] : []),
      ...(inheritedFrom === undefined ? [] : [`inherited from ${inheritedFrom}`]),
      ...exampleOf(change),
      ...(change.certain ? [] : [doubt[by]]),
    ]
    const who = roleKey ?? (by === 'exclusion' ? 'EVERYBODY' : 'SOMEBODY')
    return [sign, who, methods.join('|'), path, `${origin.file}:${origin.line}`, notes.join(', ')]
  })
}

const everybody = {
  '+': 'NEWLY WITHOUT PERMISSION CHECK',
  '-': 'needs a permission now',
} as const

const doubt = {
  rule: 'not certain: the search was given up',
  exclusion: 'not certain: the search was given up',
  casbin: 'not certain: what this line gives is known to casbin alone',
} as const

function exampleOf({ example, path }: AccessChange): readonly string[] {
  if (example === undefined || example.path === path) return []
  return [`such as ${example.method} ${example.path}`]
}
