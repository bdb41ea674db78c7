import { type RoleByRule, type WhoAnswer, who } from '../../answers/who.ts'
import { methodProblem } from '../../policy/rule/rule.ts'
import type { Run } from '../command.ts'
import { exitCodes } from '../exit-codes.ts'
import { count, formatTable, json, printable } from '../format.ts'
import { type AccountCounts, countAccounts, countWords } from './account-counts.ts'
import { type AskedPolicy, askedPolicy, policyName } from './asked-policy.ts'
import { lineOf } from './rule-line.ts'
import type { whoSpec } from './specs.ts'
import { refusalOf, routeOf } from './verdict-words.ts'

/** Shows which roles may make a call, and through which line. */
export const policyWho: Run<typeof whoSpec> = async ({ options, arguments: given }, io) => {
  const [method, path] = given
  const asked = await askedPolicy(options, io)
  const answer = who(asked, { method, path })
  const accounts = options.accounts ? await countAccounts(asked.settings, io) : undefined
  const notes = [...asked.notes, methodProblem(method), accounts?.problem, aboutCasbin(asked)]
  const shown = notes.filter((note) => note !== undefined)

  if (options.output === 'json') io.out(json(asJson(answer, asked, accounts, shown)))
  else {
    io.out(formatAnswer(answer, asked, accounts))
    for (const note of shown) io.err(`note: ${printable(note)}\n`)
  }
  const isAnyone = answer.kind === 'open' || [...answer.roles, ...answer.superusers].length > 0
  return isAnyone ? exitCodes.done : exitCodes.no
}

function aboutCasbin({ policies }: AskedPolicy): string | undefined {
  if (policies.set.model.casbin === undefined) return undefined
  return 'Casbin evaluates this model: its matcher may also allow roles that the policy does not name'
}

function formatAnswer(
  answer: WhoAnswer,
  asked: AskedPolicy,
  accounts: AccountCounts | undefined,
): string {
  const { deniedRoles, otherMethods, roles } = answer
  const others = roles.length > 0 ? [] : otherMethods
  const shown = others.slice(0, mostLines).map((rule) => [lineOf(rule)])
  return [
    `${printable(`${answer.method} ${answer.path}: ${titleOf(answer)}`)}\n`,
    formatTable([...aboutCall(answer, asked), ['policy', policyName(asked)]], '  '),
    formatTable(roleRows(answer, accounts), '  '),
    deniedRoles.length === 0 ? '' : 'A deny rule takes it from:\n',
    formatTable(
      deniedRoles.map((role) => [role.roleKey, ...throughOf(role)]),
      '  ',
    ),
    others.length === 0
      ? ''
      : `${count(others.length, 'rule allows', 'rules allow')} other methods on this path:\n`,
    formatTable(shown, '  '),
    others.length > mostLines
      ? `  … and ${others.length - mostLines} more: --output json lists all\n`
      : '',
  ].join('')
}

const mostLines = 20

function titleOf({ kind, verdict, roles, superusers }: WhoAnswer): string {
  if (kind === 'refused') return 'the gateway refuses it to every caller'
  if (kind === 'open') {
    return verdict.need === 'nothing'
      ? 'every caller may, without a token'
      : 'every authenticated caller may'
  }
  const others = roles.length + superusers.length
  const may = others === 0 ? 'only admin may' : `admin and ${count(others, 'role')} may`
  return verdict.isUnserved ? `${may}, but no route serves it` : may
}

/** Route, exclusion or refusal. */
function aboutCall({ kind, verdict }: WhoAnswer, { admission }: AskedPolicy): string[][] {
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

function roleRows(answer: WhoAnswer, accounts: AccountCounts | undefined): string[][] {
  if (answer.kind !== 'policy') return []
  const rows = [
    ...answer.superusers.map(({ roleKey, clause }) => [roleKey, `${clause} in model.conf`, '']),
    ...answer.roles.map((role) => [role.roleKey, ...throughOf(role)]),
  ]
  const titles = ['ROLE', 'RULE', 'INHERITED FROM']
  const table = [titles, ['admin', 'needs no rule', ''], ...rows]
  const isInherited = rows.some(([, , way]) => way !== '')
  return table.map(([roleKey = '', rule = '', way = ''], at) => [
    roleKey,
    ...(isCounted(accounts) ? [at === 0 ? 'ACCOUNTS' : countWords(accounts.of(roleKey))] : []),
    rule,
    ...(isInherited ? [way] : []),
  ])
}

function isCounted(accounts: AccountCounts | undefined): accounts is AccountCounts {
  return accounts !== undefined && accounts.problem === undefined
}

/** The line, and the way to the role that it names, such as `lead < clerk`. */
function throughOf({ rule, via, alsoAllowedBy }: RoleByRule): [string, string] {
  const more = rule.effect === 'allow' ? alsoAllowedBy.length : 0
  const note = more === 0 ? '' : ` (and ${count(more, 'more rule')})`
  return [`${lineOf(rule)}${note}`, via.join(' < ')]
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
    allows:
      kind === 'policy'
        ? 'roles'
        : kind === 'refused'
          ? 'none'
          : need === 'nothing'
            ? 'everyone'
            : 'authenticated',
    ...(refusal !== undefined && { refusal, refused: refusalOf(refusal, endpoint) }),
    isUnserved,
    route: route?.path ?? null,
    access: route?.access ?? null,
    upstream: endpoint?.upstream ?? route?.upstream ?? null,
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
