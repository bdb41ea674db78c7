import type { Observation } from '../../../answers/usage/observation.ts'
import type { UnusedAnswer } from '../../../answers/usage/unused.ts'
import { type AskedPolicy, policyName } from '../../../operations/policy/asked-policy.ts'
import { observed } from '../../../operations/policy/denials.ts'
import { lineOf } from '../../../operations/policy/rule-line.ts'
import type { Exclusion, Rule } from '../../../policy/rule/rule.ts'
import type { PolicySet } from '../../../policy/set/policy-set.ts'
import { count, formatTable, printable } from '../../format.ts'
import { observedInWords, timeInWords } from './observed-words.ts'

/** What was not used, by which policy and observation. */
export interface UnusedReport {
  readonly asked: AskedPolicy
  readonly answer: UnusedAnswer
  readonly observation: Observation
  /** Without sets when the policies of the begin are not known. */
  readonly baseline: { readonly sets: readonly PolicySet[] | undefined; readonly name: string }
  /** Requests of roles that were not counted by name. */
  readonly otherRoles: number
}

export function formatUnused(report: UnusedReport): string {
  const { answer, observation, asked } = report
  const { grants, exclusions, roles, unmentioned } = answer
  const old = <T extends { readonly isNew: boolean }>(list: readonly T[]) =>
    list.filter(({ isNew }) => !isNew)
  const isNothing = [grants, exclusions, roles, unmentioned].every((list) => list.length === 0)
  return [
    `${printable(policyName(asked))}\n`,
    `${observedInWords(observation)}\n`,
    ...doubts(report).map((doubt) => `${printable(doubt)}\n`),
    section(old(grants), ['grant never used', 'grants never used'], ({ what }) => [lineOf(what)]),
    section(old(exclusions), ['exclusion never used', 'exclusions never used'], ({ what }) => [
      lineOf(what),
    ]),
    section(
      old(roles),
      ['role that no token carried', 'roles that no token carried'],
      roleRow(asked),
    ),
    section(
      unmentioned,
      [
        'role in tokens that the policy does not name',
        'roles in tokens that the policy does not name',
      ],
      (role) => [role.roleKey, count(role.count, 'request'), `last ${timeInWords(role.last)}`],
    ),
    newOnes(report),
    isNothing ? 'everything was used\n' : '',
  ].join('')
}

/** What makes the lists less certain. */
function doubts({ observation, otherRoles }: UnusedReport): readonly string[] {
  const { isComplete, uncounted } = observation
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
function newOnes({ answer, baseline }: UnusedReport): string {
  const { grants, exclusions, roles } = answer
  const rows = [...grants, ...exclusions]
    .filter(({ isNew }) => isNew)
    .map(({ what }) => [lineOf(what)])
  const young = roles.filter(({ isNew }) => isNew).map(({ what }) => [`role ${what}`])
  const all = [...rows, ...young]
  if (all.length === 0) return ''
  const why =
    baseline.sets === undefined
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
function roleRow({ whole }: AskedPolicy) {
  const rules = Map.groupBy(whole.rules, ({ roleKey }) => roleKey)
  const links = Map.groupBy(whole.inheritances, ({ roleKey }) => roleKey)
  return ({ what }: { readonly what: string }): readonly string[] => {
    const [own, parents] = [rules.get(what)?.length ?? 0, links.get(what)?.length ?? 0]
    const facts = [
      ...(own > 0 ? [count(own, 'rule')] : []),
      ...(parents > 0 ? [`inherits from ${count(parents, 'role')}`] : []),
    ]
    return [what, facts.join(', ')]
  }
}

export function unusedAsJson({ asked, answer, observation, baseline, otherRoles }: UnusedReport) {
  const placed = <What extends Rule | Exclusion>({
    what,
    isNew,
  }: {
    what: What
    isNew: boolean
  }) => {
    const { origin, ...content } = what
    return { ...origin, ...content, isNew }
  }
  return {
    policy: asked.name,
    revision: asked.policies.revision,
    observed: { ...observed(observation), otherRoles },
    baseline: { name: baseline.name, isKnown: baseline.sets !== undefined },
    grants: answer.grants.map(placed),
    exclusions: answer.exclusions.map(placed),
    roles: answer.roles.map(({ what: roleKey, isNew }) => ({ roleKey, isNew })),
    unmentioned: answer.unmentioned.map(({ last, ...role }) => ({
      ...role,
      last: new Date(last).toISOString(),
    })),
    notes: asked.notes,
  }
}
