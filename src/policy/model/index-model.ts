import { quote } from '../rule/rule.ts'
import type { Complain, ModelDefinition } from './columns.ts'
import { deepFrozen } from './deep-frozen.ts'
import { type FieldNames, type Matcher, recognizeMatcher } from './matcher.ts'
import type { Model } from './model.ts'
import { type ModelConf, splitNames, threeNames } from './model-conf.ts'

/** Reads a model of the index grammar. For any other model, reports every part outside it. */
export function readIndexModel(conf: ModelConf, complain: Complain): Model | undefined {
  let sound = true
  const note: Complain = (line, message) => {
    sound = false
    return complain(line, message)
  }
  const fields = readFields(conf, note)
  const denyOverrides = readEffect(conf, note)
  if (denyOverrides && fields?.effectColumn === false) {
    note(
      conf.entries.get('policy_definition.p')?.line ?? 1,
      'the policy_effect uses deny, but rules have no effect column: write "p = sub, obj, act, eft"',
    )
  }
  const matcher = fields && readMatcher(conf, fields, note)
  if (matcher !== undefined) checkRoleDefinition(conf, matcher.inheritance, note)
  if (!sound || fields === undefined || denyOverrides === undefined || matcher === undefined) {
    return undefined
  }
  const { inheritance, keyMatch, keyMatch2, anyMethod, methodLists, superusers } = matcher
  const { effectColumn } = fields
  return deepFrozen({
    inheritance,
    path: { keyMatch, keyMatch2 },
    anyMethod,
    effectColumn,
    denyOverrides,
    ...(methodLists && { methodLists }),
    ...(superusers.length > 0 && { superusers }),
    ...((methodLists || superusers.length > 0) && {
      definition: definitionOf(matcher, fields, denyOverrides),
    }),
  })
}

function definitionOf(
  { inheritance, text }: Matcher,
  { request, policy, effectColumn }: Fields,
  denyOverrides: boolean,
): ModelDefinition {
  return {
    request,
    columns: [...policy, ...(effectColumn ? ['eft'] : [])].map((name) => ({ name })),
    relations: inheritance ? [{ name: 'g', places: 2 }] : [],
    effect: denyOverrides ? 'deny-overrides' : 'allow',
    matcher: text,
  }
}

function readMatcher(
  { entries }: ModelConf,
  fields: FieldNames,
  complain: Complain,
): Matcher | undefined {
  const { value = '', line = 1 } = entries.get('matchers.m') ?? {}
  const matcher = recognizeMatcher(value, fields)
  if ('inheritance' in matcher) return matcher
  for (const problem of matcher) complain(line, problem)
  return undefined
}

interface Fields extends FieldNames {
  readonly effectColumn: boolean
}

function readFields({ entries }: ModelConf, complain: Complain): Fields | undefined {
  const request = entries.get('request_definition.r')
  const policy = entries.get('policy_definition.p')
  const policyNames = splitNames(policy?.value ?? '')
  const effectColumn = policyNames[3] === 'eft'

  const requestFields = threeNames(splitNames(request?.value ?? ''))
  const policyFields = threeNames(effectColumn ? policyNames.slice(0, 3) : policyNames)
  if (requestFields === undefined || policyFields === undefined || policyNames.length > 4) {
    return complain(
      policy?.line ?? 1,
      `the columns ${quote(policyNames.join(', '))} are outside the index grammar, which has "sub, obj, act" and "sub, obj, act, eft"`,
    )
  }
  return { request: requestFields, policy: policyFields, effectColumn }
}

/** Whether a deny outweighs an allow, or `undefined` for an effect that is not covered. */
function readEffect({ entries }: ModelConf, complain: Complain): boolean | undefined {
  const { value = '', line = 1 } = entries.get('policy_effect.e') ?? {}
  const text = value.replace(/\s+/g, '')
  if (text === 'some(where(p.eft==allow))') return false
  if (text === 'some(where(p.eft==allow))&&!some(where(p.eft==deny))') return true
  return complain(line, `the policy_effect ${quote(value)} is outside the index grammar`)
}

function checkRoleDefinition(
  { entries, sections }: ModelConf,
  inheritance: boolean,
  complain: Complain,
) {
  const definitions = [...entries.keys()].filter((name) => name.startsWith('role_definition.'))
  const line = sections.get('role_definition') ?? 1
  if (definitions.join() !== (inheritance ? 'role_definition.g' : '')) {
    complain(
      line,
      'the role_definition is outside the index grammar, which has only "g = _, _" with g() in the matcher',
    )
  } else if (
    inheritance &&
    splitNames(entries.get('role_definition.g')?.value ?? '').length !== 2
  ) {
    complain(line, 'roles with domains are outside the index grammar')
  }
}
