import type { ExclusionEffect, WithoutEffect } from '../../answers/exclusion-effects.ts'
import type { OpenAnswer, OpenRoute } from '../../answers/open.ts'
import type { OtherTokens } from '../../answers/other-tokens.ts'
import { placeOf } from '../../policy/review/finding.ts'
import { formatDuration } from '../duration.ts'
import { formatTable } from '../format.ts'
import { untilNote } from '../../operations/policy/rule-line.ts'
import { refusalOf } from '../../operations/policy/verdict-words.ts'

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
export function formatIdleExclusions({ exclusions }: OpenAnswer): string {
  const idle = exclusions.filter(({ effect }) => effect === 'none')
  return section('exclusions without effect', idle.map(idleRow))
}

/** Ways to get a token other than a login. Nothing is printed while login is the only one. */
export function formatOtherTokens(others: readonly OtherTokens[]): string {
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
