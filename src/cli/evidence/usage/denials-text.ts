import type { Denial } from '../../../answers/usage/denials.ts'
import type { Observation } from '../../../answers/usage/observation.ts'
import { type AskedPolicy, policyName } from '../../../operations/policy/asked-policy.ts'
import { lineOf } from '../../../operations/policy/rule-line.ts'
import { count, formatTable, printable } from '../../format.ts'
import { observedAsJson, observedInWords, timeInWords } from './observed-words.ts'

/** Refusals since a day, and what a policy says about them. */
export interface DenialsReport {
  readonly asked: AskedPolicy
  readonly since: string
  readonly observation: Observation
  readonly denials: readonly Denial[]
  /** Refusals that were not counted by call. */
  readonly others: number
  readonly limit: number
}

export function formatDenials(report: DenialsReport): string {
  const { asked, since, observation, denials, others, limit } = report
  const total = denials.reduce((sum, each) => sum + each.count, others)
  const more = denials.slice(limit)
  const shown = denials.slice(0, limit)
  return [
    `${printable(policyName(asked))}\n`,
    `${observedInWords(observation)}\n`,
    total === 0
      ? `nothing was refused since ${since} 00:00 UTC\n`
      : `${count(total, 'refusal')} since ${since} 00:00 UTC:\n`,
    ...shown.map(formatDenial),
    more.length === 0 ? '' : `… and ${rest(more)}: add --limit ${limit * 5}\n`,
    others === 0 ? '' : `… and ${count(others, 'refusal')} of more calls than are counted\n`,
  ].join('')
}

function rest(denials: readonly Denial[]): string {
  const calls = denials.reduce((sum, each) => sum + each.count, 0)
  return `${count(calls, 'refusal')} of ${count(denials.length, 'other call')}`
}

function formatDenial(denial: Denial): string {
  const { roleKey, domain, method, last } = denial
  const where = domain === undefined ? '' : ` in domain ${domain}`
  const title = `${denial.count.toLocaleString('en-US')}  ${roleKey} ${method} ${callOf(denial)}${where}, last ${timeInWords(last)}`
  return `${printable(title)}\n${formatTable(rowsOf(denial), '  ')}`
}

function callOf({ path, route }: Denial): string {
  if (path !== undefined) return path
  return route === undefined ? 'other paths without a route' : `other paths under ${route}`
}

function rowsOf({ verdict, nearMisses, line }: Denial): readonly (readonly string[])[] {
  if (verdict === undefined) return []
  const { decision } = verdict
  const now = verdict.allowed
    ? [['now', `allowed${decision?.rule === undefined ? '' : ` by ${lineOf(decision.rule)}`}`]]
    : decision?.rule !== undefined
      ? [['denied by', lineOf(decision.rule)]]
      : []
  const misses = nearMisses
    .slice(0, mostNearMisses)
    .map(({ differs, rule }) => ['near miss', lineOf(rule), wordsFor[differs]])
  const more = nearMisses.length - mostNearMisses
  return [
    ...now,
    ...(verdict.isUnserved ? [['no route', 'a caller with permission would get 404']] : []),
    ...misses,
    ...(more > 0 ? [['', `… and ${more} more`]] : []),
    ...(line === undefined ? [] : [['would allow', line]]),
  ]
}

const mostNearMisses = 3

const wordsFor = {
  method: 'differs in method',
  role: 'differs in role',
  domain: 'counts in another domain',
  inheritance: 'inherited in another domain only',
  expired: 'expired',
} as const

export function denialsAsJson(report: DenialsReport) {
  const { asked, since, observation, denials, others, limit } = report
  return {
    policy: asked.name,
    revision: asked.policies.revision,
    since,
    observed: observedAsJson(observation),
    refusals: denials.reduce((sum, each) => sum + each.count, others),
    others,
    denials: denials.slice(0, limit).map(({ verdict, last, ...denial }) => ({
      ...denial,
      last: new Date(last).toISOString(),
      ...(verdict !== undefined && {
        allowedNow: verdict.allowed,
        step: verdict.step,
        isUnserved: verdict.isUnserved,
        ...(verdict.decision?.rule !== undefined && { rule: verdict.decision.rule }),
      }),
    })),
    left: Math.max(0, denials.length - limit),
    notes: asked.notes,
  }
}
