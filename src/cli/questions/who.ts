import { routeLabel } from '../../admission/route-label.ts'
import { type RoleByRule, type WhoAnswer, who } from '../../answers/who.ts'
import { methodProblem } from '../../policy/rule/rule.ts'
import type { Run } from '../command.ts'
import { exitCodes } from '../exit-codes.ts'
import { datedJson } from '../policy/dated-json.ts'
import { type AccountCounts, countAccounts } from '../../operations/policy/account-counts.ts'
import { askedTarget } from '../../operations/policy/asked-host.ts'
import { type AskedPolicy, askedPolicy } from '../../operations/policy/asked-policy.ts'
import { whoCsv } from './csv/who.ts'
import { printNotes } from './notes.ts'
import type { whoSpec } from './specs.ts'
import { refusalOf } from '../../operations/policy/verdict-words.ts'
import { formatWho } from './who-table.ts'

/** Shows which roles may make a call, and through which line. */
export const policyWho: Run<typeof whoSpec> = async ({ options, arguments: given }, io) => {
  const [method, target] = given
  const { path, host } = askedTarget(target, options.host)
  const asked = await askedPolicy({ ...options, host }, io)
  const answer = who(asked, { method, path })
  const accounts = options.accounts ? await countAccounts(asked.settings, io) : undefined
  const notes = [
    ...asked.notes,
    methodProblem(method),
    pathProblem(path),
    accounts?.problem,
    aboutCasbin(asked),
  ].filter((note) => note !== undefined)

  if (options.output === 'json') io.out(datedJson(asJson(answer, asked, accounts, notes)))
  else {
    const isCounted = accounts !== undefined && accounts.problem === undefined
    io.out(
      options.output === 'csv'
        ? whoCsv(answer, isCounted ? accounts.of : undefined)
        : formatWho(answer, asked, accounts),
    )
    printNotes(notes, io)
  }
  const isAnyone = answer.kind === 'open' || [...answer.roles, ...answer.superusers].length > 0
  return isAnyone ? exitCodes.done : exitCodes.no
}

function pathProblem(path: string): string | undefined {
  if (path.startsWith('/') || path === '*') return undefined
  return `a request path starts with "/": write /${path}`
}

function aboutCasbin({ policies }: AskedPolicy): string | undefined {
  if (policies.set.model.casbin === undefined) return undefined
  return 'Casbin evaluates this model: its matcher may also allow roles that the policy does not name'
}

function asJson(
  { verdict, kind, isAdminAllowed, roles, deniedRoles, ...answer }: WhoAnswer,
  asked: AskedPolicy,
  accounts: AccountCounts | undefined,
  notes: readonly string[],
) {
  const { route, endpoint, refusal, isUnserved, need, decision } = verdict
  const withAccounts = (role: RoleByRule) => ({
    ...role,
    ...(accounts !== undefined && { accounts: accounts.of(role.roleKey) ?? null }),
  })
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
    admin: {
      allowed: isAdminAllowed,
      ...(accounts !== undefined && { accounts: accounts.of('admin') ?? null }),
    },
    roles: roles.map(withAccounts),
    deniedRoles: deniedRoles.map(withAccounts),
    policy: asked.name,
    revision: asked.policies.revision,
    notes,
  }
}

/** Who may, in one word for programs. */
const allowed = {
  refused: 'none',
  policy: 'roles',
  open: 'authenticated',
  nothing: 'everyone',
} as const
