import { byPriority, denyOverrides } from './casbin-models.ts'

/** The pieces of a model with a domain. */
interface DomainModelPieces {
  /** Whether rules have no domain. */
  readonly withoutColumn?: boolean
  /** The condition on role and domain. */
  readonly subject: string
  readonly path?: string
  readonly method?: string
  readonly roles?: string
  readonly effect?: string
  /** An alternative to all other conditions. */
  readonly or?: string
}

/** The text of a model with `r = sub, dom, obj, act`. */
export function domainModel(pieces: DomainModelPieces): string {
  const { subject, path = 'keyMatch2(r.obj, p.obj)', method = 'r.act == p.act' } = pieces
  const effect = pieces.effect ?? 'some(where (p.eft == allow))'
  const matcher = `${subject} && ${path} && ${method}${pieces.or === undefined ? '' : ` || ${pieces.or}`}`
  return [
    '[request_definition]\nr = sub, dom, obj, act',
    `[policy_definition]\np = sub${pieces.withoutColumn === true ? '' : ', dom'}, obj, act${pieces.effect === undefined ? '' : ', eft'}`,
    ...(pieces.roles === undefined ? [] : [`[role_definition]\n${pieces.roles}`]),
    `[policy_effect]\ne = ${effect}`,
    `[matchers]\nm = ${matcher}\n`,
  ].join('\n\n')
}

/** Casbin's own example, "RBAC with domains", with paths. */
export const tenants = domainModel({
  subject: 'g(r.sub, p.sub, r.dom) && r.dom == p.dom',
  roles: 'g = _, _, _',
})

/** Models with a domain that the index evaluates. */
export const indexedDomainModels: readonly string[] = [
  'roles in a domain',
  'roles in a domain, exact paths',
  'roles in every domain',
  'rules for every domain',
  'deny overrides',
  'domains by prefix',
  'domains by prefix, deny overrides',
  'roles of the domain of the rule',
  'rules without a domain',
  'lists of methods',
]

const anyDomain = '(r.dom == p.dom || p.dom == "*")'

/** Models with a domain, of the kinds that Casbin's documentation shows. */
export const domainModels: Readonly<Record<string, string>> = {
  'roles in a domain': tenants,
  'roles in a domain, exact paths': domainModel({
    subject: 'g(r.sub, p.sub, r.dom) && r.dom == p.dom',
    path: 'r.obj == p.obj',
    roles: 'g = _, _, _',
  }),
  'roles in every domain': domainModel({
    subject: 'g(r.sub, p.sub) && r.dom == p.dom',
    path: '(keyMatch(r.obj, p.obj) || keyMatch2(r.obj, p.obj))',
    method: '(r.act == p.act || p.act == "*")',
    roles: 'g = _, _',
  }),
  'rules for every domain': domainModel({
    subject: `r.sub == p.sub && ${anyDomain}`,
    method: '(r.act == p.act || p.act == "*")',
  }),
  'deny overrides': domainModel({
    subject: `g(r.sub, p.sub, r.dom) && ${anyDomain}`,
    roles: 'g = _, _, _',
    effect: denyOverrides,
  }),
  priority: domainModel({
    subject: `g(r.sub, p.sub, r.dom) && ${anyDomain}`,
    roles: 'g = _, _, _',
    effect: byPriority,
  }),
  'domains by prefix': domainModel({
    subject: 'r.sub == p.sub && keyMatch(r.dom, p.dom)',
    path: 'r.obj == p.obj',
  }),
  'domains by prefix, deny overrides': domainModel({
    subject: 'g(r.sub, p.sub, r.dom) && (r.dom == p.dom || keyMatch(r.dom, p.dom))',
    path: '(keyMatch(r.obj, p.obj) || keyMatch2(r.obj, p.obj))',
    roles: 'g = _, _, _',
    effect: denyOverrides,
  }),
  'rules without a domain': domainModel({
    subject: 'g(r.sub, p.sub, r.dom)',
    path: 'keyMatch2(r.obj, p.obj)',
    roles: 'g = _, _, _',
    withoutColumn: true,
  }),
  'lists of methods': domainModel({
    subject: 'r.dom == p.dom && g(r.sub, p.sub)',
    method: 'regexMatch(r.act, p.act)',
    roles: 'g = _, _',
  }),
  'superuser of every domain': domainModel({
    subject: 'r.sub == p.sub && r.dom == p.dom',
    or: 'r.sub == "root"',
  }),
  'superuser of one domain': domainModel({
    subject: 'r.sub == p.sub && r.dom == p.dom',
    or: '(r.sub == "root" && r.dom == "north")',
  }),
  'roles of the domain of the rule': domainModel({
    subject: 'g(r.sub, p.sub, p.dom) && r.dom == p.dom',
    roles: 'g = _, _, _',
  }),
}
