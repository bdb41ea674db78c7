import { routeLabel } from '../../../admission/route-label.ts'
import type { DocumentOf } from '../../../operations/operation.ts'
import type { policyCan } from '../../../operations/policy/descriptions.ts'
import { formatCsv, ruleColumns, ruleTitles, withoutRule } from './rows.ts'

type Document = DocumentOf<typeof policyCan>
export type Comparison = Extract<Document, { readonly comparedWith: string }>
export type CanAnswer = Exclude<Document, Comparison>
export type EffectiveRule = CanAnswer['unserved'][number]

/** A line for each rule of a role at each route. */
export function canCsv(answer: CanAnswer): string {
  const { roleKey, routes, unserved, ineffective } = answer
  const row = (route: string) => (rule: EffectiveRule) => [
    roleKey,
    route,
    rule.effect,
    ...ruleColumns(rule),
    rule.example === undefined ? '' : `${rule.example.method} ${rule.example.path}`,
  ]
  return formatCsv([
    ['role', 'route', 'result', ...ruleTitles, 'example'],
    ...(answer.unrestricted === undefined
      ? []
      : [[roleKey, 'any route', 'allows everything', ...withoutRule, '']]),
    ...routes.flatMap(({ route, rules }) =>
      rules.map(row(route === undefined ? 'any route' : routeLabel(route))),
    ),
    ...unserved.map(row('no route')),
    ...ineffective.map(row('without effect')),
  ])
}

/** A line for each rule by which one of two roles may do what the other may not. */
export function compareCsv({ roleKey: first, comparedWith, more, less }: Comparison): string {
  const sides = [
    { roleKey: first, found: more },
    { roleKey: comparedWith, found: less },
  ]
  const rows = sides.flatMap(({ roleKey, found }) => [
    ...(found.isEverything ? [[roleKey, 'everything', ...withoutRule, '']] : []),
    ...found.differences.map((each) => [
      roleKey,
      each.isWhole ? 'all calls' : 'some calls',
      ...ruleColumns(each),
      each.isUnserved ? 'no' : 'yes',
    ]),
  ])
  return formatCsv([['only role', 'may', ...ruleTitles, 'served'], ...rows])
}
