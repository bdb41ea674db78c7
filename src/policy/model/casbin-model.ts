import { quote } from '../rule/rule.ts'
import { columnsOf } from './casbin-columns.ts'
import type { CasbinEffect, Complain, Relation } from './columns.ts'
import { deepFrozen } from './deep-frozen.ts'
import { parseExpression, textOf } from './expression.ts'
import type { Model } from './model.ts'
import { areNames, type ModelConf, requestNames, splitNames } from './model-conf.ts'

/**
 * Reads a model for Casbin. Rejects everything that could throw, loop or take exponential time on a
 * request, models that allow by default, and models that ignore role, path or method (Spec,
 * Authentication 5; decision 16).
 */
export function readCasbinModel(
  { entries, sections }: ModelConf,
  outsideIndex: readonly string[],
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
      `unsupported matcher ${quote(matcher.value)}: use fields, strings, ==, !=, function calls, &&, ||, ! and parentheses; instead of "in", write one == for each value`,
    )
  }
  if (request === undefined || names === undefined) return undefined

  const columns = columnsOf(expression, { ...request, names, relations }, (message) =>
    complain(matcher.line, message),
  )
  for (const { name } of relations) {
    if (textOf(expression).includes(`${name}(`)) continue
    const line = sections.get('role_definition') ?? 1
    complain(line, `the matcher does not call ${name}(), so "${name}" lines would have no effect`)
  }
  if (effect === undefined) return undefined
  const uses = new Set(columns.flatMap((column) => column.uses))
  return deepFrozen({
    inheritance: relations.length > 0,
    path: { keyMatch: uses.has('keyMatch'), keyMatch2: uses.has('keyMatch2') },
    anyMethod: columns.some((each) => each.uses.includes('method') && each.literals.includes('*')),
    effectColumn: names.includes('eft'),
    denyOverrides: effect !== 'allow',
    casbin: { ...request, columns, relations, effect, matcher: textOf(expression), outsideIndex },
  })
}

interface ModelLine {
  readonly value: string
  readonly line: number
}

function readRequest({ value, line }: ModelLine, complain: Complain) {
  const names = requestNames(splitNames(value))
  return (
    names ??
    complain(
      line,
      'a request has role, path and method: write "r = sub, obj, act", or "r = sub, dom, obj, act" with a domain',
    )
  )
}

function readColumnNames({ value, line }: ModelLine, complain: Complain) {
  const names = splitNames(value)
  if (areNames(names)) return names
  return complain(
    line,
    `invalid column names ${quote(value)}: use distinct names of letters, digits and "_"`,
  )
}

function readRelation(name: string, value: string, line: number, complain: Complain): Relation[] {
  const places = splitNames(value)
  if (places.every((place) => place === '_') && (places.length === 2 || places.length === 3)) {
    return [{ name, places: places.length }]
  }
  complain(line, `invalid ${name}: write "${name} = _, _", or "${name} = _, _, _" with a domain`)
  return []
}

function readEffect({ value, line }: ModelLine, column: boolean, complain: Complain) {
  const text = value.replace(/\s+/g, '')
  if (text === '!some(where(p.eft==deny))') {
    // Spec, Authentication 5d: a request passes only if the policy allows it.
    return complain(
      line,
      `policy_effect ${quote(value)} allows by default, which is not supported: a request passes only if a rule allows it`,
    )
  }
  const effect = effects.get(text)
  if (effect === undefined) {
    return complain(
      line,
      `unsupported policy_effect ${quote(value)}: write "some(where (p.eft == allow))", append " && !some(where (p.eft == deny))" to let deny override allow, or write "priority(p.eft) || deny"`,
    )
  }
  if (effect === 'allow' || column) return effect
  return complain(line, 'the policy_effect uses deny, but rules have no column "eft"')
}

/** Without `subjectPriority`: casbin puts roles that are in no `g` line in an arbitrary order. */
const effects: ReadonlyMap<string, CasbinEffect> = new Map([
  ['some(where(p.eft==allow))', 'allow'],
  ['some(where(p.eft==allow))&&!some(where(p.eft==deny))', 'deny-overrides'],
  ['priority(p.eft)||deny', 'priority'],
])
