import type { DocumentOf } from '../../operations/operation.ts'
import { isAllowing, type Rows } from '../../operations/policy/can.ts'
import type { policyCan } from '../../operations/policy/descriptions.ts'
import { placeOf, untilNote } from '../../operations/policy/rule-line.ts'
import { answererOf, routeLabel } from '../../operations/policy/verdict-words.ts'
import { count, formatTable, printable } from '../format.ts'
import { noteLines, type ViewOf } from '../view.ts'
import { type Comparison, compareCsv, formatComparison } from './comparison.ts'
import { formatCsv, ruleColumns, ruleTitles, withoutRule } from './csv.ts'
import { formatOpen } from './open-view.ts'

type CanAnswer = Exclude<DocumentOf<typeof policyCan>, Comparison>
type EffectiveRule = CanAnswer['unserved'][number]
type Rule = EffectiveRule['rule']
type AccessRoute = NonNullable<CanAnswer['routes'][number]['route']>

export const policyCanView: ViewOf<typeof policyCan, Rows> = {
  text({ document, shown = [] }) {
    const err = noteLines(document.notes)
    if ('comparedWith' in document) return { out: formatComparison(document, shown), err }
    const open = document.unrestricted === undefined ? formatOpen(document.open) : ''
    return { out: `${formatCan(document, shown)}${open}`, err }
  },
  csv({ document }) {
    const out = 'comparedWith' in document ? compareCsv(document) : canCsv(document)
    return { out, err: noteLines(document.notes) }
  },
}

/** The rules of a role by route. */
function formatCan(answer: CanAnswer, about: Rows): string {
  const { roleKey, account, routes, unserved, ineffective, inherits } = answer
  const wide = rulesOfManyRoutes(routes)
  const head = [...about, ...(inherits.length === 0 ? [] : [['inherits', inherits.join(', ')]])]
  const groups = routes.map(({ route, rules }) => {
    return section(
      route === undefined ? 'any route' : titleOfRoute(route),
      rules.filter(({ rule }) => !wide.has(rule)),
    )
  })
  return [
    `${printable(`${account === undefined ? roleKey : `${account.username} (role ${roleKey})`}: ${titleOf(answer)}`)}\n`,
    formatTable(head, '  '),
    section(
      'several routes',
      [...wide.values()].map(([rule]) => rule),
      ({ rule }) => `on ${count(wide.get(rule)?.length ?? 0, 'route')}`,
    ),
    ...groups,
    section('no route serves these paths: the answer is 404', unserved),
    section('without effect', ineffective),
  ].join('')
}

function titleOfRoute(route: AccessRoute): string {
  const about = [`access ${route.access}`, answererOf(route)].filter((each) => each !== undefined)
  return `${routeLabel(route)} (${about.join(', ')})`
}

/** A rule on more routes than this has a line of its own instead of one under each. */
const mostRoutes = 3

/** The rules that do the same on many routes. */
function rulesOfManyRoutes(
  routes: CanAnswer['routes'],
): ReadonlyMap<Rule, readonly [EffectiveRule, ...EffectiveRule[]]> {
  const found = new Map<Rule, [EffectiveRule, ...EffectiveRule[]]>()
  for (const each of routes.flatMap(({ rules }) => rules)) {
    const known = found.get(each.rule)
    if (known === undefined) found.set(each.rule, [each])
    else known.push(each)
  }
  const many = [...found].filter(([, [first, ...others]]) => {
    return others.length >= mostRoutes && others.every(({ effect }) => effect === first.effect)
  })
  return new Map(many)
}

function titleOf({ unrestricted, routes }: CanAnswer): string {
  if (unrestricted !== undefined) {
    const why = unrestricted === 'admin' ? '' : `, by ${unrestricted.clause} in model.conf`
    return `may make every call that the gateway does not refuse${why}`
  }
  const rules = new Set(
    routes.flatMap((each) => each.rules.filter(isAllowing).map(({ rule }) => rule)),
  )
  if (rules.size === 0) return 'no rule allows a call that a route serves'
  return `${count(rules.size, 'rule allows', 'rules allow')} calls on ${count(routes.filter(({ rules: some }) => some.some(isAllowing)).length, 'route')}`
}

function section(
  title: string,
  rules: readonly EffectiveRule[],
  noteOn: (rule: EffectiveRule) => string = () => '',
): string {
  if (rules.length === 0) return ''
  const rows = rules.map((each) => [
    signOf(each),
    each.rule.method,
    each.rule.path,
    placeOf(each.rule.origin),
    [
      each.until === undefined ? '' : untilNote(each.until),
      noteOn(each),
      inheritedNote(each),
      effectNote(each),
    ]
      .filter((note) => note !== '')
      .join('; '),
  ])
  return `${printable(title)}\n${formatTable(rows, '  ')}`
}

function signOf({ rule, effect }: EffectiveRule): string {
  if (rule.effect === 'deny') return '-'
  return effect === 'outweighed' ? ' ' : '+'
}

function inheritedNote({ via }: EffectiveRule): string {
  return via.length === 0 ? '' : `inherited from ${via.join(' < ')}`
}

function effectNote({ rule, effect, example }: EffectiveRule): string {
  const call = `for example ${example?.method} ${example?.path}`
  if (effect === 'partly') return `partly, ${call}; a deny rule takes the rest`
  if (effect === 'outweighed') return 'a deny rule takes all of it'
  if (effect === 'denies') return `deny, ${call}`
  // Under a model that Casbin evaluates, nothing else is known.
  return rule.fields !== undefined && effect === 'allows' ? call : ''
}

/** A line for each rule of a role at each route. */
function canCsv(answer: CanAnswer): string {
  const { roleKey, routes, unserved, ineffective } = answer
  const row = (route: string) => (rule: EffectiveRule) => [
    roleKey,
    route,
    rule.effect,
    ...ruleColumns(rule),
    rule.example === undefined ? '' : `${rule.example.method} ${rule.example.path}`,
  ]
  return formatCsv([
    ['role', 'route', 'result', ...ruleTitles, 'example'],
    ...(answer.unrestricted === undefined
      ? []
      : [[roleKey, 'any route', 'allows everything', ...withoutRule, '']]),
    ...routes.flatMap(({ route, rules }) =>
      rules.map(row(route === undefined ? 'any route' : routeLabel(route))),
    ),
    ...unserved.map(row('no route')),
    ...ineffective.map(row('without effect')),
  ])
}
