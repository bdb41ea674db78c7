import { quote } from '../rule/rule.ts'
import { columnsOf } from './casbin-columns.ts'
import type { CasbinEffect, Complain, Relation } from './columns.ts'
import { parseExpression, textOf } from './expression.ts'
import type { Model } from './model.ts'
import { areNames, type ModelConf, splitNames, threeNames } from './model-conf.ts'

/**
 * Reads a model for casbin. Complains about whatever could throw, loop or run wild on a request, and
 * about models that allow by default or look at less than role, path and method (Spec,
 * Authentication 5).
 */
export function readCasbinModel(
  { entries, sections }: ModelConf,
  notCovered: readonly string[],
  complain: Complain,
): Model | undefined {
  const entryOf = (name: string) => entries.get(name) ?? { value: '', line: 1 }
  const request = readRequest(entryOf('request_definition.r'), complain)
  const names = readColumnNames(entryOf('policy_definition.p'), complain)
  const relations = [...entries].flatMap(([name, { value, line }]) =>
    name.startsWith('role_definition.') ? readRelation(name.slice(16), value, line, complain) : [],
  )
  const effect = readEffect(entryOf('policy_effect.e'), names?.includes('eft') === true, complain)
  const matcher = entryOf('matchers.m')
  const expression = parseExpression(matcher.value)
  if (expression === undefined) {
    return complain(
      matcher.line,
      `the matcher ${quote(matcher.value)} cannot be used: it may have fields, texts, == and !=, functions, &&, || and !, and brackets (and for "in" write one == for each)`,
    )
  }
  if (request === undefined || names === undefined) return undefined

  const columns = columnsOf(expression, { request, names, relations }, (message) =>
    complain(matcher.line, message),
  )
  for (const { name } of relations) {
    if (textOf(expression).includes(`${name}(`)) continue
    const line = sections.get('role_definition') ?? 1
    complain(line, `the matcher does not call ${name}(): ${name} lines would have no effect`)
  }
  if (effect === undefined) return undefined
  const uses = new Set(columns.flatMap((column) => column.uses))
  return deepFrozen({
    inheritance: relations.length > 0,
    path: { keyMatch: uses.has('keyMatch'), keyMatch2: uses.has('keyMatch2') },
    anyMethod: columns.some((each) => each.uses.includes('method') && each.literals.includes('*')),
    effectColumn: names.includes('eft'),
    denyOverrides: effect !== 'allow',
    casbin: { request, columns, relations, effect, matcher: textOf(expression), notCovered },
  })
}

interface Entry {
  readonly value: string
  readonly line: number
}

function readRequest({ value, line }: Entry, complain: Complain) {
  const names = threeNames(splitNames(value))
  return (
    names ??
    complain(line, 'the request has three fields, role, path and method: write "r = sub, obj, act"')
  )
}

function readColumnNames({ value, line }: Entry, complain: Complain) {
  const names = splitNames(value)
  if (areNames(names)) return names
  return complain(line, `${quote(value)}: columns have different names of letters, digits and "_"`)
}

function readRelation(name: string, value: string, line: number, complain: Complain): Relation[] {
  const places = splitNames(value)
  if (places.every((place) => place === '_') && (places.length === 2 || places.length === 3)) {
    return [{ name, places: places.length }]
  }
  complain(line, `write "${name} = _, _", or "${name} = _, _, _" with a domain`)
  return []
}

function readEffect({ value, line }: Entry, column: boolean, complain: Complain) {
  const text = value.replace(/\s+/g, '')
  if (text === '!some(where(p.eft==deny))') {
    // Spec, Authentication 5d: a request passes only if the policy allows it.
    return complain(line, `effect ${quote(value)} allows whatever nobody denied: refused`)
  }
  const effect = effects.get(text)
  if (effect === undefined) {
    return complain(
      line,
      `effect ${quote(value)} is refused: write "some(where (p.eft == allow))", with " && !some(where (p.eft == deny))" if a deny shall outweigh it, or "priority(p.eft) || deny"`,
    )
  }
  if (effect === 'allow' || column) return effect
  return complain(line, 'the effect speaks of deny, but the policy has no column "eft" for it')
}

/** Without `subjectPriority`: casbin puts roles that are in no `g` line in an arbitrary order. */
const effects: ReadonlyMap<string, CasbinEffect> = new Map([
  ['some(where(p.eft==allow))', 'allow'],
  ['some(where(p.eft==allow))&&!some(where(p.eft==deny))', 'deny-overrides'],
  ['priority(p.eft)||deny', 'priority'],
])

function deepFrozen<T extends object>(value: T): T {
  for (const part of Object.values(value)) if (typeof part === 'object') deepFrozen(part)
  return Object.freeze(value)
}
