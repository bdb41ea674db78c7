import { formatDuration } from '../../operations/duration.ts'
import type { DocumentOf } from '../../operations/operation.ts'
import type { policyOpen } from '../../operations/policy/descriptions.ts'
import { placeOf, untilNote } from '../../operations/policy/rule-line.ts'
import { refusalOf } from '../../operations/policy/verdict-words.ts'
import { count, formatTable } from '../format.ts'
import { noteLines, type ViewOf } from '../view.ts'

type Document = DocumentOf<typeof policyOpen>
type OpenAnswer = Pick<Document, 'endpoints' | 'routes' | 'exclusions'>
type OpenRoute = Document['routes'][number]
type ExclusionEffect = Document['exclusions'][number]
type WithoutEffect = ExclusionEffect['reasons'][number]
type OtherTokens = NonNullable<Document['otherTokens']>[number]

export const policyOpenView: ViewOf<typeof policyOpen, string> = {
  text({ document, shown = '' }) {
    const { endpoints, routes, exclusions, otherTokens, notes } = document
    const effective = exclusions.filter(({ effect }) => effect !== 'none').length
    const found = [
      count(endpoints.length, 'endpoint of the gateway', 'endpoints of the gateway'),
      count(routes.length, 'route'),
      count(effective, 'exclusion'),
    ]
    const out = [
      `no permission needed: ${found.join(', ')}\n`,
      formatTable([['policy', shown]], '  '),
      formatOpen(document),
      formatIdleExclusions(document),
      formatOtherTokens(otherTokens ?? []),
    ]
    return { out: out.join(''), err: noteLines(notes) }
  },
}

/** What needs no permission, by who may: a line each, with its reason. */
export function formatOpen(answer: OpenAnswer): string {
  const active = answer.exclusions.filter(({ effect }) => effect !== 'none')
  return [
    section('every caller may, without a token', rowsOf(answer, 'nothing')),
    section('every authenticated caller may, whatever the role', [
      ...rowsOf(answer, 'identity'),
      ...active.map(exclusionRow),
    ]),
  ].join('')
}

/** Exclusions that change no answer, and why. */
function formatIdleExclusions({ exclusions }: OpenAnswer): string {
  const idle = exclusions.filter(({ effect }) => effect === 'none')
  return section('exclusions without effect', idle.map(idleRow))
}

/** Ways to get a token other than a login. Nothing is printed while login is the only one. */
function formatOtherTokens(others: readonly OtherTokens[]): string {
  return section('also let in, without a login', others.map(otherRow))
}

function otherRow(other: OtherTokens): string[] {
  if (other.kind === 'service') {
    const { maxLifetimeSeconds } = other
    const longest = formatDuration(maxLifetimeSeconds * 1000)
    return [
      'service tokens',
      `tokens.service, at most ${longest}`,
      'issued by "postern token issue"',
    ]
  }
  return [`tokens of ${other.issuer}`, 'issuers', `roles: ${other.roles.join(', ') || 'none'}`]
}

function section(title: string, rows: readonly string[][]): string {
  return rows.length === 0 ? '' : `${title}\n${formatTable(rows, '  ')}`
}

function rowsOf({ endpoints, routes }: OpenAnswer, need: 'nothing' | 'identity'): string[][] {
  return [
    ...endpoints
      .filter((each) => each.need === need)
      .map(({ method, path, upstream, reason }) => {
        const by = upstream === undefined ? 'the gateway' : `upstream ${upstream}`
        return [method, path, `endpoint, answered by ${by}`, reason]
      }),
    ...routes.filter((each) => each.need === need).map(routeRow),
  ]
}

function routeRow(route: OpenRoute): string[] {
  const { covers, methods, upstream, reason, except } = route
  const to = upstream === undefined ? 'route' : `route, upstream ${upstream}`
  const others = except.map((each) => `${each.path} is ${each.access}`)
  const less = others.length === 0 ? '' : ` (except: ${others.join(', ')})`
  return [
    methods?.join(',') ?? '*',
    covers,
    route.isFixedResponse ? 'route, fixed response' : to,
    `${reason ?? 'no reason given'}${less}`,
  ]
}

function exclusionRow({ exclusion, effect, reasons }: ExclusionEffect): string[] {
  const { method, path, origin, reason, until } = exclusion
  const end = until === undefined ? '' : `, ${untilNote(until)}`
  const note = effect === 'partly' ? ` (partly: ${reasons.map(wordsFor).join('; ')})` : ''
  return [method, path, `exclusion, ${placeOf(origin)}${end}`, `${reason}${note}`]
}

function idleRow({ exclusion, reasons }: ExclusionEffect): string[] {
  const { method, path, origin } = exclusion
  return [method, path, placeOf(origin), reasons.map(wordsFor).join('; ')]
}

function wordsFor(reason: WithoutEffect): string {
  switch (reason.why) {
    case 'refused':
      return refusalOf(reason.refusal ?? 'method-not-allowed', undefined)
    case 'unserved':
      return 'no route serves it: the answer is 404'
    case 'own-endpoint':
      return reason.need === 'nothing'
        ? 'the gateway answers it itself, without a token'
        : 'built in: every authenticated caller may'
    case 'open-route':
      return `route ${reason.path} is ${reason.need === 'nothing' ? 'public' : 'authenticated'} already`
    case 'earlier-entry':
      return `${placeOf(reason.exclusion.origin)} excludes it already`
  }
}
