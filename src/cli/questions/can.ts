import { rolesIn } from '../../answers/asked.ts'
import { type CanAnswer, can } from '../../answers/can.ts'
import { openEndpoints } from '../../answers/open.ts'
import type { EffectiveRule } from '../../answers/rule-effects.ts'
import { placeOf } from '../../policy/review/finding.ts'
import { didYouMean } from '../../suggest.ts'
import type { Run } from '../command.ts'
import { decline } from '../declined.ts'
import { exitCodes } from '../exit-codes.ts'
import { count, formatTable, json, printable } from '../format.ts'
import { type AskedPolicy, askedPolicy, policyName } from './asked-policy.ts'
import { compareRoles } from './can-compare.ts'
import { inexact, printNotes } from './notes.ts'
import { formatOpen } from './open-table.ts'
import type { canSpec } from './specs.ts'

/** Shows everything that a role may do, or what it may do and another may not. */
export const policyCan: Run<typeof canSpec> = async ({ options, arguments: given }, io) => {
  const [roleKey] = given
  const asked = await askedPolicy(options, io)
  for (const each of [roleKey, options.compare]) {
    if (each !== undefined) requireRole(each, asked)
  }
  const { compare } = options
  if (compare !== undefined) return compareRoles(asked, [roleKey, compare], options.output, io)

  const answer = can(asked, roleKey)
  const open = openEndpoints(asked)
  const notes = [...asked.notes, ...(answer.isExact ? [] : [inexact(asked)])]
  if (options.output === 'json') {
    const { name: policy, policies } = asked
    io.out(json({ ...answer, open, policy, revision: policies.revision, notes }))
  } else {
    io.out(formatAnswer(answer, asked))
    if (answer.unrestricted === undefined) io.out(formatOpen(open))
    printNotes(notes, io)
  }
  return answer.unrestricted !== undefined || answer.routes.some(({ rules }) => rules.some(allows))
    ? exitCodes.done
    : exitCodes.no
}

function requireRole(roleKey: string, { policies, name }: AskedPolicy): void {
  const roles = rolesIn(policies.set)
  // Only its matcher knows which roles a model that Casbin evaluates allows.
  if (roleKey === 'admin' || roles.includes(roleKey) || policies.set.model.casbin !== undefined)
    return
  decline(
    `the policy of ${name} does not name the role ${JSON.stringify(roleKey)}, so it may only do what every authenticated caller may ("postern policy open")${didYouMean(roleKey, roles)}`,
  )
}

function allows({ effect }: EffectiveRule): boolean {
  return effect === 'allows' || effect === 'partly'
}

function formatAnswer(answer: CanAnswer, asked: AskedPolicy): string {
  const { roleKey, routes, unserved, ineffective, inherits } = answer
  const head = [
    ['policy', policyName(asked)],
    ...(inherits.length === 0 ? [] : [['inherits', inherits.join(', ')]]),
  ]
  const groups = routes.map(({ route, rules }) => {
    const to = route?.upstream === undefined ? '' : `, upstream ${route.upstream}`
    const title = route === undefined ? 'any route' : `${route.path} (access ${route.access}${to})`
    return section(title, rules)
  })
  return [
    `${printable(`${roleKey}: ${titleOf(answer)}`)}\n`,
    formatTable(head, '  '),
    ...groups,
    section('no route serves these paths: the answer is 404', unserved),
    section('without effect', ineffective),
  ].join('')
}

function titleOf({ unrestricted, routes }: CanAnswer): string {
  if (unrestricted === 'admin') return 'may make every call that the gateway does not refuse'
  if (unrestricted !== undefined) {
    return `may make every call that the gateway does not refuse, by ${unrestricted.clause} in model.conf`
  }
  const rules = new Set(routes.flatMap((each) => each.rules.filter(allows).map(({ rule }) => rule)))
  if (rules.size === 0) return 'no rule allows a call that a route serves'
  return `${count(rules.size, 'rule allows', 'rules allow')} calls on ${count(routes.length, 'route')}`
}

function section(title: string, rules: readonly EffectiveRule[]): string {
  if (rules.length === 0) return ''
  const rows = rules.map(({ rule, via, effect, example }) => [
    rule.effect === 'deny' ? '-' : effect === 'outweighed' ? ' ' : '+',
    rule.method,
    rule.path,
    placeOf(rule.origin),
    [
      ...(via.length === 0 ? [] : [`inherited from ${via.join(' < ')}`]),
      ...(effect === 'partly'
        ? [`partly: a deny rule takes the rest, not ${example?.method} ${example?.path}`]
        : []),
      ...(effect === 'outweighed' ? ['a deny rule takes all of it'] : []),
      ...(effect === 'denies' ? [`deny, for example ${example?.method} ${example?.path}`] : []),
    ].join('; '),
  ])
  return `${printable(title)}\n${formatTable(rows, '  ')}`
}
