import type { Problem } from '../errors.ts'
import { type FieldNames, type Matcher, recogniseMatcher } from './matcher.ts'
import { type ModelConf, readModelConf } from './model-conf.ts'
import { quote } from './rule.ts'

/** Which of casbin's functions compare a path with a pattern; with neither, only `==` does. */
export interface PathMatch {
  readonly keyMatch: boolean
  readonly keyMatch2: boolean
}

/** What a model of the covered grammar means, free of its names, order and spacing. */
export interface Model {
  /** `g` lines count: a role may do what its parents may. */
  readonly inheritance: boolean
  readonly path: PathMatch
  /** `*` in the method column stands for every method. */
  readonly anyMethod: boolean
  /** Rules have a fourth column, `allow` or `deny`. */
  readonly effectColumn: boolean
  /** One matching deny outweighs every matching allow. */
  readonly denyOverrides: boolean
}

/**
 * Reads a casbin model. Reports every problem, with its line, and answers `undefined` when there is
 * one; a valid model outside the covered grammar is refused with what is not covered.
 */
export function parseModel(
  file: { readonly name: string; readonly text: string },
  report: (problem: Problem) => void,
): Model | undefined {
  let sound = true
  const complain = (line: number, message: string): undefined => {
    sound = false
    report({ file: file.name, line, message })
  }
  const conf = readModelConf(file, ({ line = 1, message }) => complain(line, message))
  const value = (name: string) => conf.entries.get(name)

  for (const [name, { value: text, line }] of conf.entries) {
    // The evaluator behind casbin's eval() turns policy rows into code.
    if (/\beval\s*\(/.test(text)) complain(line, `${quote(name)} uses eval(), which is refused`)
  }
  const missing = requiredEntries.filter((name) => value(name) === undefined)
  for (const name of missing) complain(1, `the model has no ${quote(name)}`)
  if (missing.length > 0) return undefined

  const fields = readFields(conf, complain)
  const denyOverrides = readEffect(conf, complain)
  if (denyOverrides && fields?.effectColumn === false) {
    complain(
      value('policy_definition.p')?.line ?? 1,
      'the effect speaks of deny, but the policy has no column for it: write "p = sub, obj, act, eft"',
    )
  }
  const matcher = fields && readMatcher(conf, fields, complain)
  if (matcher !== undefined) checkRoleDefinition(conf, matcher.inheritance, complain)
  if (!sound || fields === undefined || denyOverrides === undefined || matcher === undefined) {
    return undefined
  }
  const { inheritance, keyMatch, keyMatch2, anyMethod } = matcher
  const path = Object.freeze({ keyMatch, keyMatch2 })
  const { effectColumn } = fields
  return Object.freeze({ inheritance, path, anyMethod, effectColumn, denyOverrides })
}

const requiredEntries = [
  'request_definition.r',
  'policy_definition.p',
  'policy_effect.e',
  'matchers.m',
] as const

type Complain = (line: number, message: string) => undefined

function readMatcher(
  { entries }: ModelConf,
  fields: FieldNames,
  complain: Complain,
): Matcher | undefined {
  const { value = '', line = 1 } = entries.get('matchers.m') ?? {}
  const matcher = recogniseMatcher(value, fields)
  if ('inheritance' in matcher) return matcher
  for (const problem of matcher) complain(line, `${problem} ${covered}`)
  return undefined
}

const covered =
  '(covered: role equal or g(), AND any of keyMatch, keyMatch2, == on the path, AND method equal or "*")'

function readFields(
  { entries }: ModelConf,
  complain: Complain,
): (FieldNames & { effectColumn: boolean }) | undefined {
  const request = entries.get('request_definition.r')
  const policy = entries.get('policy_definition.p')
  const policyNames = splitNames(policy?.value ?? '')
  const effectColumn = policyNames[3] === 'eft'

  const requestFields = threeNames(splitNames(request?.value ?? ''))
  if (requestFields === undefined) {
    return complain(
      request?.line ?? 1,
      'the request has three fields, role, path and method: write "r = sub, obj, act"',
    )
  }
  const policyFields = threeNames(effectColumn ? policyNames.slice(0, 3) : policyNames)
  if (policyFields === undefined || policyNames.length > 4) {
    return complain(
      policy?.line ?? 1,
      'only "p = sub, obj, act" and "p = sub, obj, act, eft" are covered: role, path, method and effect, in this order',
    )
  }
  return { request: requestFields, policy: policyFields, effectColumn }
}

/** Three names that casbin's evaluator can tell apart, and none that it gives a meaning. */
function threeNames(names: readonly string[]): readonly [string, string, string] | undefined {
  const [role, path, method, ...more] = names
  if (role === undefined || path === undefined || method === undefined) return undefined
  if (more.length > 0 || new Set(names).size < 3 || names.includes('eft')) return undefined
  return names.every((name) => /^[A-Za-z]\w*$/.test(name)) ? [role, path, method] : undefined
}

/** Whether a deny outweighs an allow, or `undefined` for an effect that is refused. */
function readEffect({ entries }: ModelConf, complain: Complain): boolean | undefined {
  const { value = '', line = 1 } = entries.get('policy_effect.e') ?? {}
  const text = value.replace(/\s+/g, '')
  if (text === 'some(where(p.eft==allow))') return false
  if (text === 'some(where(p.eft==allow))&&!some(where(p.eft==deny))') return true
  if (text === '!some(where(p.eft==deny))') {
    // Spec, Authentication 5d: a request passes only if the policy allows it.
    return complain(line, `effect ${quote(value)} allows whatever nobody denied: refused`)
  }
  return complain(
    line,
    `effect ${quote(value)} is not covered: write "some(where (p.eft == allow))", with " && !some(where (p.eft == deny))" if a deny shall outweigh it`,
  )
}

function checkRoleDefinition({ entries }: ModelConf, inheritance: boolean, complain: Complain) {
  const definition = entries.get('role_definition.g')
  if (definition === undefined) {
    if (inheritance)
      complain(1, 'the matcher calls g(), but there is no [role_definition] with "g = _, _"')
    return
  }
  if (splitNames(definition.value).join() !== '_,_') {
    complain(definition.line, 'only "g = _, _" is covered: a role and its parent')
  }
  if (!inheritance) {
    complain(definition.line, 'the matcher does not call g(): g lines would have no effect')
  }
}

function splitNames(text: string): string[] {
  return text.split(',').map((name) => name.trim())
}
