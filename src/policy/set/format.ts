import type { CasbinEffect, ModelDefinition } from '../model/columns.ts'
import type { Model } from '../model/model.ts'

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
