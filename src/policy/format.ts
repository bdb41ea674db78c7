import { formatField } from './csv-line.ts'
import type { Model } from './model.ts'
import type { PolicyFile } from './policy-set.ts'
import type { PolicyContent } from './revision.ts'

/**
 * Writes a policy as files that `parsePolicySet` reads back to the same revision. Comments, order
 * and the division into files are not kept.
 */
export function formatPolicyFiles({
  model,
  rules,
  inheritances,
  exclusions,
}: PolicyContent): readonly PolicyFile[] {
  const lines = [
    ...(rules.length === 0 ? ['# postern: empty'] : []),
    ...rules.map(({ roleKey, path, method, effect }) =>
      formatLine(['p', roleKey, path, method, ...(model.effectColumn ? [effect] : [])]),
    ),
    ...inheritances.map(({ roleKey, parentKey }) => formatLine(['g', roleKey, parentKey])),
  ]
  const entries = exclusions.flatMap(({ method, path, reason }) => [
    `- method: ${JSON.stringify(method)}`,
    `  path: ${JSON.stringify(path)}`,
    `  reason: ${JSON.stringify(reason)}`,
  ])
  return [
    { name: 'model.conf', text: formatModel(model) },
    { name: 'policy.csv', text: `${lines.join('\n')}\n` },
    { name: 'exclusions.yaml', text: `${entries.join('\n')}\n` },
  ]
}

function formatLine(fields: readonly string[]): string {
  return fields.map(formatField).join(', ')
}

/** The model as a casbin model file: always the same text for the same meaning. */
export function formatModel({
  inheritance,
  path,
  anyMethod,
  effectColumn,
  denyOverrides,
}: Model): string {
  const paths = [
    ...(path.keyMatch2 ? ['keyMatch2(r.obj, p.obj)'] : []),
    ...(path.keyMatch ? ['keyMatch(r.obj, p.obj)'] : []),
  ]
  const anyOf = (conditions: readonly string[]) =>
    conditions.length > 1 ? `(${conditions.join(' || ')})` : conditions.join()
  const conditions = [
    inheritance ? 'g(r.sub, p.sub)' : 'r.sub == p.sub',
    anyOf(paths.length > 0 ? paths : ['r.obj == p.obj']),
    anyOf(anyMethod ? ['r.act == p.act', 'p.act == "*"'] : ['r.act == p.act']),
  ]
  return [
    '[request_definition]',
    'r = sub, obj, act',
    '',
    '[policy_definition]',
    effectColumn ? 'p = sub, obj, act, eft' : 'p = sub, obj, act',
    '',
    ...(inheritance ? ['[role_definition]', 'g = _, _', ''] : []),
    '[policy_effect]',
    `e = some(where (p.eft == allow))${denyOverrides ? ' && !some(where (p.eft == deny))' : ''}`,
    '',
    '[matchers]',
    `m = ${conditions.join(' && ')}`,
    '',
  ].join('\n')
}
