import { lineOf } from '../../../operations/policy/rule-line.ts'
import type { Change } from '../../../replay/changes.ts'
import type { DistinctCount } from '../../../replay/distinct.ts'
import { count } from '../../format.ts'

/** The parts of a change as words; texts of the log are not escaped. */
interface ChangeWords {
  /** `14,000 calls of 312 users (7, 12, …)`. */
  readonly calls: string
  /** `editor DELETE`. */
  readonly who: string
  /** `/api/v1/orders/7 (request 914a…)`. */
  readonly example: string
  /** `2026-11-01T00:00:00.000Z to 2026-11-02T00:00:00.000Z`. */
  readonly when: string
  readonly before: string
  readonly now: string
}

export function changeInWords(change: Change): ChangeWords {
  const { calls, users, example, first, last } = change
  const { requestId, host = '', path, domain } = example
  const request = requestId === undefined ? '' : ` (request ${requestId})`
  return {
    calls: `${count(calls, 'call')}${usersInWords(users)}`,
    who: `${namesOf(change.roles)} ${namesOf(change.methods)}`,
    example: `${host}${path}${domain === undefined ? '' : ` in ${domain}`}${request}`,
    when: first === last ? (first ?? 'time not recorded') : `${first} to ${last}`,
    before: beforeInWords(change),
    now: nowInWords(change),
  }
}

function usersInWords({ count: number, isExact, some }: DistinctCount): string {
  if (number === 0) return ', users not recorded'
  const names = `${some.join(', ')}${number > some.length ? ', …' : ''}`
  return ` of ${isExact ? '' : 'more than '}${count(number, 'user')} (${names})`
}

const maxNames = 3

function namesOf({ count: number, isExact, some }: DistinctCount): string {
  const shown = some.slice(0, maxNames)
  const more = number - shown.length
  if (more === 0) return shown.join(', ')
  return `${shown.join(', ')} and ${isExact ? '' : 'more than '}${count(more, 'other')}`
}

/** `allowed by policy.csv:12 (r-d47a8140bd98)`. */
function beforeInWords({ result, before }: Change): string {
  const { step, rule, revisions } = before
  const how = result === 'deny' ? 'allowed' : 'denied'
  const why =
    rule === undefined ? (stepWords[step] ?? `: ${step}`) : ` by ${rule.file}:${rule.line}`
  const names = revisions.some.map(shortRevision)
  const more = revisions.count > names.length ? ['…'] : []
  return `${how}${why}${names.length === 0 ? '' : ` (${[...names, ...more].join(', ')})`}`
}

function nowInWords({ result, now }: Change): string {
  const line = now.rule ?? now.exclusion
  const how = result === 'deny' ? 'denied' : 'allowed'
  if (line !== undefined) return `${how} by ${lineOf(line)}`
  return `${how}${now.clause === undefined ? stepWords[now.step] : ` by the superuser clause ${now.clause}`}`
}

const stepWords: Readonly<Record<string, string>> = {
  admin: ': the role is admin',
  exclusion: ' by the exclusion list',
  superuser: ' by a superuser clause',
  rule: ' by a rule',
  none: ': no rule allows it',
}

/** As many digits as every command accepts. */
export function shortRevision(revision: string): string {
  return revision.length > 14 ? revision.slice(0, 14) : revision
}
