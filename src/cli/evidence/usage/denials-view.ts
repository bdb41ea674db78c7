import type { DocumentOf } from '../../../operations/operation.ts'
import type { DenialsExtras } from '../../../operations/policy/denials.ts'
import type { policyDenials } from '../../../operations/policy/evidence-descriptions.ts'
import { observedInWords, timeInWords } from '../../../operations/policy/observed-words.ts'
import { lineOf } from '../../../operations/policy/rule-line.ts'
import { count, formatTable, printable } from '../../format.ts'
import { noteLines, type ViewOf } from '../../view.ts'

type Document = DocumentOf<typeof policyDenials>
type Denial = Document['denials'][number]

export const policyDenialsView: ViewOf<typeof policyDenials, DenialsExtras> = {
  text({ document, shown }, { limit }) {
    const { since, observed, refusals, others, denials, left, notes } = document
    const out = [
      `${printable(shown?.policy ?? '')}\n`,
      `${observedInWords(observed)}\n`,
      refusals === 0
        ? `nothing was refused since ${since} 00:00 UTC\n`
        : `${count(refusals, 'refusal')} since ${since} 00:00 UTC:\n`,
      ...denials.map(formatDenial),
      left === 0 ? '' : `… and ${rest(document)}: add --limit ${limit * 5}\n`,
      others === 0 ? '' : `… and ${count(others, 'refusal')} of more calls than are counted\n`,
    ]
    return { out: out.join(''), err: noteLines(notes) }
  },
}

function rest({ refusals, others, denials, left }: Document): string {
  const calls = denials.reduce((sum, each) => sum - each.count, refusals - others)
  return `${count(calls, 'refusal')} of ${count(left, 'other call')}`
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

function rowsOf(denial: Denial): readonly (readonly string[])[] {
  const { allowedNow, isUnserved, rule, nearMisses, line } = denial
  if (allowedNow === undefined) return []
  const now = allowedNow
    ? [['now', `allowed${rule === undefined ? '' : ` by ${lineOf(rule)}`}`]]
    : rule !== undefined
      ? [['denied by', lineOf(rule)]]
      : []
  const misses = nearMisses
    .slice(0, mostNearMisses)
    .map(({ differs, rule: near }) => ['near miss', lineOf(near), wordsFor[differs]])
  const more = nearMisses.length - mostNearMisses
  return [
    ...now,
    ...(isUnserved ? [['no route', 'a caller with permission would get 404']] : []),
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
