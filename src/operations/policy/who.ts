import { routeLabel } from '../../admission/route-label.ts'
import { type RoleByRule, type WhoAnswer, who } from '../../answers/who.ts'
import { methodProblem } from '../../policy/rule/rule.ts'
import { InvalidInput } from '../invalid-input.ts'
import type { RunOf } from '../operation.ts'
import { type AccountCount, type AccountCounts, countAccounts } from './account-counts.ts'
import { dated } from './dated.ts'
import type { policyWho } from './descriptions.ts'
import { aboutPolicy, findPolicy, type PolicyQuery, policyName } from './policy-query.ts'
import { queryTarget } from './query-target.ts'
import { lineOf } from './rule-line.ts'
import { refusalOf, routeOf } from './verdict-words.ts'

/** What the text shows besides. */
export interface WhoExtras {
  /** Route, exclusion or refusal, and the policy, as rows of a table. */
  readonly rows: readonly (readonly string[])[]
  /** Of each role that the answer names. Absent: accounts are not counted. */
  readonly counts?: Readonly<Record<string, AccountCount | undefined>>
}

/** Lists which roles may make a call, and through which line. */
export const run: RunOf<typeof policyWho, WhoExtras> = async (input, context) => {
  const { method, path: target, names } = input
  if (names && !input.accounts) throw new InvalidInput(undefined, '--names needs --accounts')
  const { path, host } = queryTarget(target, input.host)
  const query = await findPolicy({ ...input, host, config: context.configFile }, context)
  const answer = who(query, { method, path })
  const accounts = input.accounts ? await countAccounts(query.settings, context, names) : undefined
  const notes = [
    methodProblem(method),
    pathProblem(path),
    accounts?.problem,
    aboutCasbin(query),
  ].filter((note) => note !== undefined)
  const isAnyone = answer.kind === 'open' || [...answer.roles, ...answer.superusers].length > 0
  const { roles, superusers, deniedRoles } = answer
  const named = ['admin', ...[...roles, ...superusers, ...deniedRoles].map((each) => each.roleKey)]
  return {
    document: dated({ ...described(answer, accounts), ...aboutPolicy(query, notes) }),
    outcome: isAnyone ? 'done' : 'no',
    shown: {
      rows: [...aboutCall(answer, query), ['policy', policyName(query)]],
      ...(accounts?.problem === undefined &&
        accounts && { counts: Object.fromEntries(named.map((key) => [key, accounts.of(key)])) }),
    },
  }
}

function pathProblem(path: string): string | undefined {
  if (path.startsWith('/') || path === '*') return undefined
  return `a request path starts with "/": write /${path}`
}

function aboutCasbin({ policies }: PolicyQuery): string | undefined {
  if (policies.set.model.casbin === undefined) return undefined
  return 'Casbin evaluates this model: its matcher may also allow roles that the policy does not name'
}

function described(
  { verdict, kind, isAdminAllowed, roles, deniedRoles, ...answer }: WhoAnswer,
  accounts: AccountCounts | undefined,
) {
  const { route, endpoint, refusal, isUnserved, need, decision } = verdict
  const countOf = (roleKey: string) =>
    accounts === undefined ? {} : { accounts: accounts.of(roleKey) ?? null }
  const withAccounts = (role: RoleByRule) => ({ ...role, ...countOf(role.roleKey) })
  return {
    ...answer,
    allows: allowed[need === 'nothing' && kind === 'open' ? 'nothing' : kind],
    ...(refusal !== undefined && { refusal, refused: refusalOf(refusal, endpoint) }),
    isUnserved,
    route: route === undefined ? null : routeLabel(route),
    access: route?.access ?? null,
    upstream: endpoint?.upstream ?? route?.upstream ?? null,
    isFixedResponse: route?.respond !== undefined,
    endpoint: endpoint?.name ?? null,
    exclusion: decision?.exclusion ?? null,
    admin: { allowed: isAdminAllowed, ...countOf('admin') },
    roles: roles.map(withAccounts),
    deniedRoles: deniedRoles.map(withAccounts),
  }
}

/** Who may, in one word for programs. */
const allowed = {
  refused: 'none',
  policy: 'roles',
  open: 'authenticated',
  nothing: 'everyone',
} as const

function aboutCall({ kind, verdict }: WhoAnswer, { admission }: PolicyQuery): string[][] {
  const { route, endpoint, refusal, isUnserved, decision } = verdict
  if (kind === 'refused') return [['refused', refusalOf(refusal ?? 'method-not-allowed', endpoint)]]
  const rows: string[][] = []
  if (endpoint !== undefined) {
    const by = endpoint.upstream === undefined ? 'the gateway' : `upstream ${endpoint.upstream}`
    rows.push(['endpoint', `${endpoint.name}, answered by ${by}`])
  } else if (admission.areRoutesKnown) {
    rows.push(['route', isUnserved ? 'none: the answer is 404' : routeOf(verdict)])
  }
  if (route?.reason !== undefined && kind === 'open') rows.push(['reason', route.reason])
  if (decision?.exclusion === undefined) return rows
  const { exclusion } = decision
  return [...rows, ['exclusion', lineOf(exclusion)], ['reason', exclusion.reason]]
}
