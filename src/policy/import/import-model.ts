import type { Model } from '../model/model.ts'
import { parseModel } from '../model/parse-model.ts'

/** A row of another product's policy table. */
export interface ForeignRow {
  readonly ptype: string
  readonly values: readonly string[]
  readonly place: string
}

/** Whether a row is one of "RBAC with domains": `p, role, domain, path, method` or `g, role, parent, domain`. */
export function hasDomainField({ ptype, values }: ForeignRow): boolean {
  if (ptype === 'g') return values.length > 2
  const [, domain = '', path = ''] = values
  return ptype === 'p' && values.length > 3 && !domain.startsWith('/') && path.startsWith('/')
}

/**
 * The model that rows are read with. The model of the other product is part of its code: go-admin's has
 * neither inheritance nor effects, so only `anyModel` takes them from the rows. Rows with a domain come
 * from another one, and then say what it has.
 */
export function importedModel(
  rows: readonly ForeignRow[],
  { anyModel }: { readonly anyModel: boolean },
): Model {
  const ruleRows = rows.filter(({ ptype }) => ptype === 'p')
  const links = rows.filter(({ ptype }) => ptype === 'g')
  if (ruleRows.some(hasDomainField)) {
    return modelWithDomain({
      scopedRoles: links.some(hasDomainField),
      roles: anyModel && links.length > 0,
      effects: ruleRows.some(({ values }) => values.length > 4),
    })
  }
  const hasEffects = anyModel && ruleRows.some(({ values }) => values.length > 3)
  return {
    // go-admin ignores g rows: importing them would give new access.
    inheritance: anyModel && links.length > 0,
    path: { keyMatch: true, keyMatch2: true },
    anyMethod: true,
    effectColumn: hasEffects,
    denyOverrides: hasEffects,
  }
}

/** Casbin's "RBAC with domains", with paths and methods as in go-admin. */
function modelWithDomain({
  scopedRoles,
  roles,
  effects,
}: {
  readonly scopedRoles: boolean
  readonly roles: boolean
  readonly effects: boolean
}): Model {
  const role = scopedRoles ? 'g(r.sub, p.sub, r.dom)' : roles ? 'g(r.sub, p.sub)' : 'r.sub == p.sub'
  const text = [
    '[request_definition]\nr = sub, dom, obj, act',
    `[policy_definition]\np = sub, dom, obj, act${effects ? ', eft' : ''}`,
    ...(scopedRoles || roles ? [`[role_definition]\ng = _, _${scopedRoles ? ', _' : ''}`] : []),
    `[policy_effect]\ne = some(where (p.eft == allow))${effects ? ' && !some(where (p.eft == deny))' : ''}`,
    `[matchers]\nm = ${role} && r.dom == p.dom && (keyMatch2(r.obj, p.obj) || keyMatch(r.obj, p.obj)) && (r.act == p.act || p.act == "*")`,
  ].join('\n')
  const model = parseModel({ name: 'model.conf', text }, ({ message }) => {
    throw new Error(message)
  })
  if (model === undefined) throw new Error('the model of imported rows is invalid')
  return model
}
