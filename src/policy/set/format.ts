import type { CasbinEffect, ModelDefinition } from '../model/columns.ts'
import type { Model } from '../model/model.ts'
import { formatField } from './csv-line.ts'
import type { PolicyFile } from './policy-set.ts'
import type { PolicyContent } from './revision.ts'
import { untilComment } from './until-comments.ts'

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
    ...rules.flatMap(({ roleKey, path, method, effect, fields, until }) => [
      ...commentFor(until),
      formatLine([
        'p',
        ...(fields ?? [roleKey, path, method, ...(model.effectColumn ? [effect] : [])]),
      ]),
    ]),
    ...inheritances.flatMap(({ relation = 'g', roleKey, parentKey, domain, until }) => [
      ...commentFor(until),
      formatLine([relation, roleKey, parentKey, ...(domain === undefined ? [] : [domain])]),
    ]),
  ]
  const entries = exclusions.flatMap(({ method, path, reason, until }) => [
    ...commentFor(until),
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

function commentFor(until: number | undefined): readonly string[] {
  return until === undefined ? [] : [untilComment(until)]
}

function formatLine(fields: readonly string[]): string {
  return fields.map(formatField).join(', ')
}

/** The model as a casbin model file: always the same text for the same meaning. */
export function formatModel(model: Model): string {
  const definition = model.casbin ?? model.definition ?? definitionOf(model)
  const { columns, relations, effect, matcher } = definition
  return [
    '[request_definition]',
    `r = ${requestFields(definition).join(', ')}`,
    '',
    '[policy_definition]',
    `p = ${columns.map(({ name }) => name).join(', ')}`,
    '',
    ...(relations.length > 0 ? ['[role_definition]'] : []),
    ...relations.map(({ name, places }) => `${name} = ${Array(places).fill('_').join(', ')}`),
    ...(relations.length > 0 ? [''] : []),
    '[policy_effect]',
    `e = ${effectTexts[effect]}`,
    '',
    '[matchers]',
    `m = ${matcher}`,
    '',
  ].join('\n')
}

/** The fields of a request in Casbin's order. */
export function requestFields({
  request: [role, path, method],
  domain,
}: Pick<ModelDefinition, 'request' | 'domain'>): readonly string[] {
  return domain === undefined ? [role, path, method] : [role, domain, path, method]
}

/** The spellings that casbin knows; it compares them letter by letter. */
export const effectTexts: Readonly<Record<CasbinEffect, string>> = {
  allow: 'some(where (p.eft == allow))',
  'deny-overrides': 'some(where (p.eft == allow)) && !some(where (p.eft == deny))',
  priority: 'priority(p.eft) || deny',
}

function definitionOf(model: Model): ModelDefinition {
  const { inheritance, path, anyMethod, effectColumn, denyOverrides } = model
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
  return {
    request: ['sub', 'obj', 'act'],
    columns: ['sub', 'obj', 'act', ...(effectColumn ? ['eft'] : [])].map((name) => ({ name })),
    relations: inheritance ? [{ name: 'g', places: 2 }] : [],
    effect: denyOverrides ? 'deny-overrides' : 'allow',
    matcher: conditions.join(' && '),
  }
}
