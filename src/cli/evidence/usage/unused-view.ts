import type { DocumentOf } from '../../../operations/operation.ts'
import type { policyUnused } from '../../../operations/policy/evidence-descriptions.ts'
import { observedInWords, timeInWords } from '../../../operations/policy/observed-words.ts'
import { lineOf } from '../../../operations/policy/rule-line.ts'
import type { UnusedExtras } from '../../../operations/policy/unused.ts'
import { count, formatTable, jsonPieces, printable } from '../../format.ts'
import { formatFindings } from '../../policy/findings.ts'
import { noteLines, type ViewOf } from '../../view.ts'

type Document = DocumentOf<typeof policyUnused>

export const policyUnusedView: ViewOf<typeof policyUnused, UnusedExtras> = {
  text({ document, shown = { policy: '' } }) {
    return { out: textOf(document, shown), err: noteLines(document.notes) }
  },
  json({ document, shown }) {
    if (shown?.failure !== undefined) throw shown.failure
    return { out: jsonPieces(document), err: noteLines(document.notes) }
  },
}

/** People read the list also if no candidate was written. */
function* textOf(document: Document, { policy, failure }: UnusedExtras): Generator<string> {
  yield formatUnused(document, policy)
  if (failure !== undefined) throw failure
  if (document.candidate !== undefined) yield formatCandidate(document.candidate)
}

function formatUnused(document: Document, policy: string): string {
  const { grants, exclusions, roles, unmentioned, observed } = document
  const old = <T extends { readonly isNew: boolean }>(list: readonly T[]) =>
    list.filter(({ isNew }) => !isNew)
  const isNothing = [grants, exclusions, roles, unmentioned].every((list) => list.length === 0)
  return [
    `${printable(policy)}\n`,
    `${observedInWords(observed)}\n`,
    ...doubts(observed).map((doubt) => `${printable(doubt)}\n`),
    section(old(grants), ['grant never used', 'grants never used'], placedLine),
    section(old(exclusions), ['exclusion never used', 'exclusions never used'], placedLine),
    section(old(roles), ['role that no token carried', 'roles that no token carried'], roleRow),
    section(
      unmentioned,
      [
        'role in tokens that the policy does not name',
        'roles in tokens that the policy does not name',
      ],
      (role) => [role.roleKey, count(role.count, 'request'), `last ${timeInWords(role.last)}`],
    ),
    newOnes(document),
    isNothing ? 'everything was used\n' : '',
  ].join('')
}

/** The line of a grant or an exclusion, as a row. */
function placedLine(each: Document['grants' | 'exclusions'][number]): readonly [string] {
  const { file, line } = each
  return [lineOf({ ...each, origin: { file, line } })]
}

/** What makes the lists less certain. */
function doubts({ isComplete, uncounted, otherRoles }: Document['observed']): readonly string[] {
  return [
    ...(!isComplete && uncounted === 0
      ? ['not all of that time was observed: what is used rarely may be listed']
      : []),
    ...(uncounted > 0
      ? [
          `${count(uncounted, 'decision')} could not be counted by rule: a listed rule may have been used`,
        ]
      : []),
    ...(otherRoles > 0
      ? [
          `${count(otherRoles, 'request')} came from more roles than are counted: a listed role may have been seen`,
        ]
      : []),
  ]
}

/** Younger than the observation, or of unknown age. */
function newOnes({ grants, exclusions, roles, baseline }: Document): string {
  const rows = [...grants, ...exclusions].filter(({ isNew }) => isNew).map(placedLine)
  const young = roles.filter(({ isNew }) => isNew).map(({ roleKey }) => [`role ${roleKey}`])
  const all = [...rows, ...young]
  if (all.length === 0) return ''
  const why = !baseline.isKnown
    ? `the content of ${baseline.name}, with which the observation began, is not known: name it with --baseline`
    : `not in every policy since ${baseline.name}, with which the observation began`
  return `${printable(`${all.length} unused, too new to tell: ${why}`)}\n${table(all)}`
}

function section<Item>(
  items: readonly Item[],
  [one, many]: readonly [string, string],
  rowOf: (item: Item) => readonly string[],
): string {
  if (items.length === 0) return ''
  return `${count(items.length, one, many)}:\n${table(items.map(rowOf))}`
}

function table(rows: readonly (readonly string[])[]): string {
  const more = rows.length - mostShown
  const rest =
    more > 0 ? `  … and ${more.toLocaleString('en-US')} more: --output json lists all\n` : ''
  return formatTable(rows.slice(0, mostShown), '  ') + rest
}

const mostShown = 200

/** A role, and what it has. */
function roleRow({ roleKey, rules, parents }: Document['roles'][number]): readonly string[] {
  const facts = [
    ...(rules > 0 ? [count(rules, 'rule')] : []),
    ...(parents > 0 ? [`inherits from ${count(parents, 'role')}`] : []),
  ]
  return [roleKey, facts.join(', ')]
}

function formatCandidate(candidate: NonNullable<Document['candidate']>): string {
  const { directory, revision, dropped, tests, failures, errors } = candidate
  const parts = [
    count(dropped.rules, 'rule'),
    count(dropped.inheritances, 'inheritance'),
    count(dropped.exclusions, 'exclusion'),
  ]
  return [
    `wrote ${printable(directory)}, ${revision}, without ${parts.join(', ')}\n`,
    formatFindings('error', errors),
    tests === 0 && errors.length === 0 ? 'it has no tests\n' : '',
    failures.length === 0 || tests === 0
      ? ''
      : `${count(failures.length, 'test')} of ${tests} would fail: keep the grant, or remove the test\n`,
    tests > 0 && failures.length === 0 ? `all of ${count(tests, 'test')} pass\n` : '',
    ...failures.slice(0, mostFailures).map((failure) => `  ${printable(failure)}\n`),
    failures.length > mostFailures ? `  … and ${failures.length - mostFailures} more\n` : '',
  ].join('')
}

const mostFailures = 100
