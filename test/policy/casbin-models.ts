import { formatModel } from '../../src/policy/set/format.ts'
import { shippedModel } from './policy-text.ts'

/** What a model file says, from the pieces in which it differs from the shipped one. */
export interface ModelPieces {
  readonly columns?: string
  readonly roles?: string
  readonly effect?: string
  readonly matcher?: string
}

/** The text of a model that has these pieces instead of those of the shipped one. */
export function modelText({ columns, roles, effect, matcher }: ModelPieces): string {
  const text = formatModel(shippedModel)
    .replace(/^p = .*$/m, (line) => (columns === undefined ? line : `p = ${columns}`))
    .replace(/^e = .*$/m, (line) => (effect === undefined ? line : `e = ${effect}`))
    .replace(/^m = .*$/m, (line) => (matcher === undefined ? line : `m = ${matcher}`))
  return roles === undefined ? text : `${text}[role_definition]\n${roles}\n`
}

/** A matcher that compares the role, the path and the method in the plainest way, but for these. */
export function matcherWith(pieces: { role?: string; path?: string; method?: string }): string {
  const { role = 'r.sub == p.sub', path = 'r.obj == p.obj', method = 'r.act == p.act' } = pieces
  return [role, path, method].join(' && ')
}

export const denyOverrides = 'some(where (p.eft == allow)) && !some(where (p.eft == deny))'
export const byPriority = 'priority(p.eft) || deny'

/** Models outside the index grammar, of the kinds that casbin's own documentation shows. */
export const casbinModels = {
  superuser: modelText({
    matcher: `${matcherWith({ path: 'keyMatch2(r.obj, p.obj)' })} || r.sub == "root" && r.obj != "/secret"`,
  }),
  'methods by regular expression': modelText({
    matcher: matcherWith({ path: 'keyMatch3(r.obj, p.obj)', method: 'regexMatch(r.act, p.act)' }),
  }),
  'parameters in braces': modelText({
    matcher: matcherWith({ path: 'keyMatch3(r.obj, p.obj)' }),
  }),
  'resource groups': modelText({
    roles: 'g = _, _\ng2 = _, _',
    matcher: matcherWith({ role: 'g(r.sub, p.sub)', path: 'g2(r.obj, p.obj)' }),
  }),
  domains: modelText({
    columns: 'sub, dom, obj, act',
    roles: 'g = _, _, _',
    matcher: matcherWith({ role: 'g(r.sub, p.sub, p.dom)', path: 'keyMatch2(r.obj, p.obj)' }),
  }),
  'explicit priority': modelText({
    columns: 'priority, sub, obj, act, eft',
    effect: byPriority,
    matcher: matcherWith({ path: 'keyMatch2(r.obj, p.obj)' }),
  }),
  'priority by order': modelText({
    columns: 'sub, obj, act, eft',
    roles: 'g = _, _',
    effect: byPriority,
    matcher: matcherWith({ role: 'g(r.sub, p.sub)', path: 'keyMatch(r.obj, p.obj)' }),
  }),
  'roles by prefix and a denying negation': modelText({
    columns: 'sub, obj, act, eft',
    effect: denyOverrides,
    matcher: matcherWith({
      role: '(keyMatch(r.sub, p.sub) || p.sub == "*")',
      path: 'keyMatch2(r.obj, p.obj) && !(r.obj == "/secret")',
      method: '(r.act == p.act || p.act == "*")',
    }),
  }),
} as const

const regexMatch = 'regexMatch(r.act, p.act)'

/** Models that Casbin evaluated in earlier versions, and the index does now. */
export const indexedModels = {
  "Casbin's RESTful example": modelText({
    matcher: matcherWith({ path: 'keyMatch(r.obj, p.obj)', method: regexMatch }),
  }),
  'a superuser': modelText({
    matcher: `${matcherWith({ path: 'keyMatch2(r.obj, p.obj)' })} || r.sub == "root"`,
  }),
  'two superusers first, and deny': modelText({
    columns: 'sub, obj, act, eft',
    effect: denyOverrides,
    matcher: `r.sub == "root" || "ops" == r.sub || ${matcherWith({ method: '(p.act == "*" || r.act == p.act)' })}`,
  }),
  'superusers by inheritance': modelText({
    roles: 'g = _, _',
    matcher: `g(r.sub, "root") || (${matcherWith({ role: 'g(r.sub, p.sub)', method: `(p.act == "*" || ${regexMatch})` })})`,
  }),
} as const
