import { count, formatTable } from '../format.ts'
import {
  changesOf,
  type Diff,
  describeChange,
  momentOf,
  type ShownChange,
} from './change-in-words.ts'

/**
 * What roles gain (`+`) and lose (`-`), a line for each changed line of the policy, by the moment from
 * which it holds, most severe first. The verdict is last, where a person who is asked to publish sees it.
 * `most`: lists so many, first those with an effect and the most severe ones; the verdict counts all.
 */
export function formatAccess(diff: Diff, most = diff.changes.length): string {
  const { from, to } = diff
  const changes = changesOf(diff)
  if (changes.length === 0) {
    return from === to
      ? `no difference: both sides are ${from}\n`
      : `${from} -> ${to}: ${conclusionOf(diff)}\n`
  }
  const hidden = changes.length - most
  const listed =
    hidden > 0
      ? changes.toSorted((a, b) => Number(b.hasEffect) - Number(a.hasEffect)).slice(0, most)
      : changes
  const moments = Map.groupBy(
    listed.toSorted((a, b) => timeOf(a) - timeOf(b)),
    momentOf,
  )
  return [
    `${from} -> ${to}\n`,
    ...[...moments].flatMap(([moment, group]) => [
      formatGroup(
        group.filter(({ hasEffect }) => hasEffect),
        // Most policies have no line that expires: all that they change holds now.
        moments.size === 1 && moment === 'now' ? [] : [moment],
      ),
      formatGroup(
        group.filter(({ hasEffect }) => !hasEffect),
        [
          'without effect at a gateway with this configuration',
          ...(moment === 'now' ? [] : [moment]),
        ],
      ),
    ]),
    ...(hidden > 0
      ? [`  … and ${count(hidden, 'more line')}: without effect, or not more severe\n`]
      : []),
    `${conclusionOf(diff)}\n`,
  ].join('')
}

/** In milliseconds, for the order of changes. */
function timeOf({ startsAt }: ShownChange): number {
  return startsAt === undefined ? 0 : Date.parse(startsAt)
}

function formatGroup(changes: readonly ShownChange[], title: readonly string[]): string {
  if (changes.length === 0) return ''
  const heading = title.length === 0 ? '' : `${title.join(', ')}:\n`
  return heading + formatTable(changes.map(rowOf), '  ')
}

/** What the result says of a diff. */
type Counted = Pick<Diff, 'widened' | 'widenedHere'> & {
  readonly changes: readonly Pick<ShownChange, 'severity' | 'hasEffect'>[]
}

/** `access widens: 1 gain (1 of reading), 0 losses`. */
export function conclusionOf(diff: Counted): string {
  const { changes } = diff
  return changes.length === 0 ? verdictOf(diff) : `${verdictOf(diff)}: ${summaryOf(changes)}`
}

/** What the comparison means, in a few words. */
export function verdictOf({ changes, widened, widenedHere }: Counted): string {
  if (changes.length === 0) return 'access stays the same'
  if (!widened) return 'access narrows'
  return widenedHere
    ? 'access widens'
    : 'access widens, but not at a gateway with this configuration'
}

function rowOf(change: ShownChange): readonly string[] {
  const { sign, who, what, notes } = describeChange(change)
  const { file, line } = change.origin
  return [sign, who, ...what, `${file}:${line}`, notes.join(', ')]
}

/** `3 gains (1 without a permission check, 2 of reading), 1 loss; without effect: 1 gain, 0 losses`. */
export function summaryOf(changes: Counted['changes']): string {
  const elsewhere = changes.filter(({ hasEffect }) => !hasEffect)
  const here = countsOf(changes.filter(({ hasEffect }) => hasEffect))
  return elsewhere.length === 0 ? here : `${here}; without effect: ${countsOf(elsewhere)}`
}

function countsOf(changes: Counted['changes']): string {
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

const severities: readonly (readonly [ShownChange['severity'], string])[] = [
  ['superuser', 'of superusers'],
  ['unchecked', 'without a permission check'],
  ['wide', 'of wildcards'],
  ['changing', 'of methods that change data'],
  ['reading', 'of reading'],
  ['uncertain', 'uncertain'],
]
