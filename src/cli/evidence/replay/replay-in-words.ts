import type { Replayed } from '../../../operations/policy/evidence-descriptions.ts'
import { lineOf } from '../../../operations/policy/rule-line.ts'
import { count, printable } from '../../format.ts'

/** Calls that the policy would decide otherwise. */
export type Change = Replayed['changes'][number]
type DistinctCount = Change['users']
type Obstacle = keyof Replayed['couldNotAsk']

/** More groups than a person reads. */
const maxShown = 30

/** The changes, then what was asked. The result is last, where a person who is asked to publish sees it. */
export function formatReplay(replay: Replayed, policy: string): string {
  const { changes, wouldDeny, wouldAllow } = replay
  const lines = [
    ...section('would be denied', wouldDeny, changes, 'deny'),
    ...section('would be allowed', wouldAllow, changes, 'allow'),
    ...limitsInWords(replay).map((each) => `note: ${each}`),
    `${policy}: ${summaryOf(replay)}`,
  ]
  return lines.map((line) => `${printable(line)}\n`).join('')
}

function section(
  title: string,
  calls: number,
  changes: readonly Change[],
  result: Change['result'],
): readonly string[] {
  if (calls === 0) return []
  const some = changes.filter((each) => each.result === result)
  const shown = some.slice(0, maxShown)
  const rest = calls - shown.reduce((sum, each) => sum + each.calls, 0)
  return [
    `${title}: ${count(calls, 'call')}`,
    ...shown.flatMap(linesOf),
    ...(rest === 0 ? [] : [`  … and ${count(rest, 'call')} more: --output json lists more`]),
  ]
}

function linesOf(change: Change): readonly string[] {
  const { calls, who, example, when, before, now } = changeInWords(change)
  return [
    `  ${calls}: ${who}, for example ${example}`,
    `    when    ${when}`,
    `    before  ${before}`,
    `    now     ${now}`,
  ]
}

/** `asked 12 of 13 decisions from A to B: 9 unchanged, 2 would be denied, 1 would be allowed`. */
export function summaryOf(
  replay: Pick<
    Replayed,
    'decisions' | 'asked' | 'unchanged' | 'wouldDeny' | 'wouldAllow' | 'first' | 'last'
  >,
): string {
  const { asked, unchanged, wouldDeny, wouldAllow, first, last } = replay
  const when = first === undefined ? '' : ` from ${first} to ${last}`
  const results = `${unchanged.toLocaleString('en-US')} unchanged, ${wouldDeny.toLocaleString('en-US')} would be denied, ${wouldAllow.toLocaleString('en-US')} would be allowed`
  return `asked ${asked.toLocaleString('en-US')} of ${count(replay.decisions, 'decision')}${when}: ${results}`
}

const maxRevisions = 3

/** What the answer rests on and what it does not cover, a line each. */
export function limitsInWords(replay: Replayed): readonly string[] {
  const { notAsked, couldNotAsk, damaged, unreadable, revisions, otherRevisions } = replay
  const obstacles = Object.entries(couldNotAsk).filter(([, number]) => number > 0)
  const lost = obstacles.reduce((sum, [, number]) => sum + number, 0)
  const why = obstacles.map(
    ([each, number]) => `${number.toLocaleString('en-US')} ${obstacleWords[each as Obstacle]}`,
  )
  const without = notAsked.identity + notAsked.route
  const isOther =
    otherRevisions > 0 || revisions.some(({ revision }) => revision !== replay.revision)
  return [
    ...(replay.asked > 0 && isOther ? [recordedUnder(replay)] : []),
    ...(without > 0
      ? [
          `no policy made ${count(without, 'decision')}: ${notAsked.identity.toLocaleString('en-US')} about identity, ${notAsked.route.toLocaleString('en-US')} by a route that needs no permission`,
        ]
      : []),
    ...(lost > 0 ? [`could not replay ${count(lost, 'decision')}: ${why.join(', ')}`] : []),
    ...(damaged.first === undefined
      ? []
      : [
          `${count(damaged.lines, 'damaged line')} not read; the first is ${damaged.first.file}:${damaged.first.line}: ${damaged.first.message}`,
        ]),
    ...unreadable.map(
      ({ file, line, message }) => `${file} could be read up to line ${line} only: ${message}`,
    ),
  ]
}

function recordedUnder({ revisions, otherRevisions, revision: asked }: Replayed): string {
  const shown = revisions.slice(0, maxRevisions)
  const rest = revisions.slice(maxRevisions).reduce((sum, each) => sum + each.decisions, 0)
  const words = shown.map(({ revision, decisions }) => {
    return `${revision === asked ? 'the same revision' : shortRevision(revision)} (${decisions.toLocaleString('en-US')})`
  })
  const others = rest + otherRevisions
  const more = others === 0 ? [] : [`others (${others.toLocaleString('en-US')})`]
  const hint =
    words.length > 1 ? ': a later one may have changed calls of an earlier one already' : ''
  return `gateways decided by ${[...words, ...more].join(', ')}${hint}`
}

const obstacleWords: Readonly<Record<Obstacle, string>> = {
  'hashed-path': 'with a hashed path',
  'omitted-path': 'without path',
  'ambiguous-path': 'with a path that is not canonical',
  'omitted-role': 'without role',
  'omitted-domain': 'without domain',
  'unknown-step': 'with an unknown step',
  'engine-failed': 'on which the policy engine fails',
}

/** The parts of a change as words; texts of the log are not escaped. */
export function changeInWords(change: Change) {
  const { calls, users, example, first, last } = change
  const { requestId, host = '', path, domain } = example
  const request = requestId === undefined ? '' : ` (request ${requestId})`
  return {
    /** `14,000 calls of 312 users (7, 12, …)`. */
    calls: `${count(calls, 'call')}${usersInWords(users)}`,
    /** `editor DELETE`. */
    who: `${namesOf(change.roles)} ${namesOf(change.methods)}`,
    /** `/api/v1/orders/7 (request 914a…)`. */
    example: `${host}${path}${domain === undefined ? '' : ` in ${domain}`}${request}`,
    /** `2026-11-01T00:00:00.000Z to 2026-11-02T00:00:00.000Z`. */
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
function shortRevision(revision: string): string {
  return revision.length > 14 ? revision.slice(0, 14) : revision
}
