import type { DocumentOf } from '../../operations/operation.ts'
import type { policyDiff } from '../../operations/policy/check-descriptions.ts'
import { ANY_METHOD, METHODS } from '../../operations/policy/rule-line.ts'
import { count } from '../format.ts'

/** The access that two policies grant, compared. */
export type Diff = Omit<DocumentOf<typeof policyDiff>, 'engine' | 'notes'>
type Change = Diff['changes'][number]
type Grant = Change['shares'][number]['grants'][number]

/** Roles that gain or lose the same by a line. */
interface Share {
  readonly roles: readonly string[]
  readonly grants: readonly Grant[]
}

/** A change in which each share has its roles. */
export interface ShownChange extends Omit<Change, 'shares'> {
  readonly shares: readonly Share[]
}

/** Long lists of roles are in a document once. */
export function changesOf({ changes }: Pick<Diff, 'changes'>): readonly ShownChange[] {
  const places = changes.flatMap(({ shares }, at) => {
    return shares.map((share, index) => [`changes[${at}].shares[${index}]`, share] as const)
  })
  const byPlace = new Map<string, Change['shares'][number]>(places)
  return changes.map((change) => ({
    ...change,
    shares: change.shares.map(({ roles, rolesAt = '', grants }) => {
      return { roles: roles ?? byPlace.get(rolesAt)?.roles ?? [], grants }
    }),
  }))
}

/** A change in words: who gains (`+`) or loses (`-`) what, and what a reviewer should know about it. */
export function describeChange(change: ShownChange) {
  const { direction, cause, roleKey, parentKey, shares, text } = change
  const grants = shares[0]?.grants ?? []
  const [grant] = grants
  const isInheritance = cause === 'inheritance'
  return {
    sign: direction === 'gain' ? '+' : '-',
    who: roleKey ?? (cause === 'exclusion' ? 'EVERYONE' : 'UNKNOWN'),
    what: isInheritance
      ? ['inherits', parentKey ?? '']
      : [methodsInWords(grant?.methods ?? []), grant?.path ?? ''],
    notes: [
      ...meaningOf(change),
      ...domainOf(change),
      ...endOf(change),
      ...(isInheritance ? [grantsInWords(grants, parentKey)] : []),
      ...heirsOf(change),
      ...placeOf(change),
      ...(isInheritance || cause === 'superuser' || grant === undefined ? [] : exampleOf(grant)),
      ...(text === undefined ? [] : [text]),
      ...(grants.every(({ certain }) => certain) ? [] : [uncertain(cause)]),
    ],
  } as const
}

/** What a line means that is not an allow rule which came or went. */
function meaningOf({ cause, direction, line }: ShownChange): readonly string[] {
  if (cause === 'superuser') {
    return [
      direction === 'gain' ? 'SUPERUSER: MAY MAKE EVERY CALL' : 'no longer may make every call',
    ]
  }
  if (cause === 'exclusion') {
    return [direction === 'gain' ? 'NO PERMISSION CHECK ANY MORE' : 'now requires a permission']
  }
  if (cause === 'deny') return [line === 'removed' ? 'no longer denied' : 'now denied']
  return cause === 'inheritance' && line === 'removed' ? ['no longer'] : []
}

function domainOf({ domains = [] }: ShownChange): readonly string[] {
  const [first] = domains
  if (first === undefined) return []
  if (first === '*') return ['in every domain']
  const more = domains.length - maxDomains
  const names = domains.slice(0, maxDomains).join(', ')
  if (more > 0) return [`in domains ${names} and ${more} more`]
  return [domains.length > 1 || first.endsWith('*') ? `in domains ${names}` : `in domain ${first}`]
}

const maxDomains = 3

/** From when on: `now`, or `from 2026-12-01 on`. */
export function momentOf({ startsAt }: ShownChange): string {
  return startsAt === undefined ? 'now' : `from ${startsAt} on`
}

function endOf({ until, direction }: ShownChange): readonly string[] {
  return until === undefined || direction === 'loss' ? [] : [`until ${until}`]
}

/** The routes that serve it, and why the policy does not decide there, if so. */
function placeOf({ routes, withoutEffect, cause }: ShownChange): readonly string[] {
  const shown = routes.slice(0, maxRoutes).map(({ path }) => path)
  const more = routes.length - shown.length
  const names = more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ')
  return [
    ...(cause === 'casbin' || routes.length === 0
      ? []
      : [`${routes.length === 1 ? 'route' : 'routes'} ${names}`]),
    ...withoutEffect.map((reason) => reasons[reason]),
  ]
}

const maxRoutes = 3

const reasons: Readonly<Record<Change['withoutEffect'][number], string>> = {
  public: 'access public: everyone may call it',
  authenticated: 'access authenticated: every logged-in caller may call it',
  'no-route': 'no route serves it',
  refused: 'the gateway refuses it',
  'own-endpoint': 'the gateway answers it without a token',
}

/** The roles that gain or lose with the one that the line names. */
function heirsOf({ shares, roleKey, cause }: ShownChange): readonly string[] {
  const [first, ...others] = shares
  const all = shares.flatMap(({ roles }) => roles)
  const heirs = all.filter((each) => each !== roleKey).length
  if (roleKey === undefined || heirs === 0 || first === undefined) return []
  const isIncluded = heirs < all.length
  const unlike = others.reduce((sum, { roles }) => sum + roles.length, 0)
  const what = cause === 'inheritance' ? roleKey : 'it'
  const words = count(heirs, `role that inherits ${what}`, `roles that inherit ${what}`)
  const more = alsoGranted(first.grants, others)
  const also =
    cause === 'inheritance' ? grantsInWords(more, roleKey) : methodsInWords(more[0]?.methods ?? [])
  const part =
    unlike === 0 ? '' : ` (${unlike} of them differently${more.length > 0 ? `: also ${also}` : ''})`
  return [`${isIncluded ? 'and' : 'only'} ${words}${part}`]
}

/**
 * What the other roles have beyond the first ones: a deny rule or a `g` line can keep more from a role
 * that inherits than from the one that it names.
 */
function alsoGranted(first: readonly Grant[], others: readonly Share[]): readonly Grant[] {
  const known = new Map<string, Set<string>>()
  for (const { path, methods } of first) {
    known.set(path, new Set([...(known.get(path) ?? []), ...methods]))
  }
  const more = new Map<string, Grant>()
  for (const grant of others.flatMap(({ grants }) => grants)) {
    const { path } = grant
    const had = known.get(path)
    const methods = grant.methods.filter((each) => !had?.has(each) && !had?.has(ANY_METHOD))
    if (methods.length === 0) continue
    more.set(path, {
      ...grant,
      methods: [...new Set([...(more.get(path)?.methods ?? []), ...methods])],
    })
  }
  return [...more.values()]
}

/** `12 rules: GET|PUT /api/v1/orders (8), GET /api/v1/articles (4)`. */
function grantsInWords(grants: readonly Grant[], parentKey = ''): string {
  const rules = count(grants.length, 'rule')
  if (grants.length <= maxRules) {
    return `${rules}: ${grants.map(({ methods, path }) => `${methodsInWords(methods)} ${path}`).join(', ')}`
  }
  const groups = [...Map.groupBy(widestFirst(grants), ({ path }) => resourceOf(path))]
  const words = groups.slice(0, maxGroups).map(([resource, group]) => {
    const methods = [...new Set(group.flatMap((grant) => grant.methods))]
    return `${methodsInWords(methods)} ${resource} (${group.length})`
  })
  const more = groups.length - words.length
  const hint = `and ${more} more paths ("postern policy can ${parentKey}" lists them)`
  return `${rules}: ${[...words, ...(more > 0 ? [hint] : [])].join(', ')}`
}

/** A list that is cut must not end before a rule for everything. */
function widestFirst(grants: readonly Grant[]): readonly Grant[] {
  const isWide = ({ methods, path }: Grant) => methods.includes(ANY_METHOD) || path.endsWith('*')
  return grants.toSorted((a, b) => Number(isWide(b)) - Number(isWide(a)))
}

/** `GET|PUT`, or `all but GET` for nearly every method. */
function methodsInWords(methods: readonly string[]): string {
  if (methods.includes(ANY_METHOD)) return ANY_METHOD
  const missing = [...METHODS, 'other'].filter((method) => !methods.includes(method))
  return missing.length < methods.length ? `all but ${missing.join('|')}` : methods.join('|')
}

const maxRules = 3
const maxGroups = 10

/** `/api/v1/orders` for what lies below it. */
function resourceOf(path: string): string {
  return /^(?:\/api)?(?:\/v\d+)?\/[^/]*/.exec(path)?.[0] ?? path
}

function uncertain(cause: Change['cause']): string {
  return cause === 'casbin'
    ? 'uncertain: only Casbin can evaluate this line'
    : 'uncertain: search limit reached'
}

function exampleOf({ example, path }: Grant): readonly string[] {
  if (example === undefined || example.path === path) return []
  return [`for example ${example.method} ${example.path}`]
}
