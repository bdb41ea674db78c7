import { quote } from '../rule/rule.ts'
import type { Complain, ModelDefinition } from './columns.ts'
import { deepFrozen } from './deep-frozen.ts'
import { type FieldNames, type Matcher, recognizeMatcher } from './matcher.ts'
import type { Model } from './model.ts'
import { type ModelConf, requestNames, splitNames } from './model-conf.ts'

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
  if (matcher !== undefined) checkRoleDefinition(conf, matcher, note)
  if (!sound || fields === undefined || denyOverrides === undefined || matcher === undefined) {
    return undefined
  }
  const { inheritance, keyMatch, keyMatch2, anyMethod, methodLists, superusers, domain } = matcher
  const { effectColumn } = fields
  return deepFrozen({
    inheritance,
    path: { keyMatch, keyMatch2 },
    anyMethod,
    effectColumn,
    denyOverrides,
    ...(methodLists && { methodLists }),
    ...(superusers.length > 0 && { superusers }),
    ...(domain !== undefined && { domain }),
    ...((methodLists || superusers.length > 0 || domain !== undefined) && {
      definition: definitionOf(matcher, fields, denyOverrides),
    }),
  })
}

function definitionOf(
  { inheritance, text, domain }: Matcher,
  { request, policy, effectColumn, ...names }: Fields,
  denyOverrides: boolean,
): ModelDefinition {
  const [role, ...others] = policy
  const named = names.policyDomain === undefined ? policy : [role, names.policyDomain, ...others]
  return {
    request,
    ...(names.domain !== undefined && { domain: names.domain }),
    columns: [...named, ...(effectColumn ? ['eft'] : [])].map((name) => ({ name })),
    relations: inheritance ? [{ name: 'g', places: domain?.scopedRoles === true ? 3 : 2 }] : [],
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
  const effectColumn = policyNames.length > 3 && policyNames.at(-1) === 'eft'

  const requestFields = requestNames(splitNames(request?.value ?? ''))
  const columns = requestNames(effectColumn ? policyNames.slice(0, -1) : policyNames)
  const isSurplus = columns?.domain !== undefined && requestFields?.domain === undefined
  if (requestFields === undefined || columns === undefined || isSurplus) {
    return complain(
      policy?.line ?? 1,
      `the columns ${quote(policyNames.join(', '))} are outside the index grammar, which has "sub, obj, act" and "sub, obj, act, eft", and "dom" after "sub" if requests have a domain`,
    )
  }
  return {
    ...requestFields,
    policy: columns.request,
    ...(columns.domain !== undefined && { policyDomain: columns.domain }),
    effectColumn,
  }
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
  { inheritance, domain }: Pick<Matcher, 'inheritance' | 'domain'>,
  complain: Complain,
) {
  const definitions = [...entries.keys()].filter((name) => name.startsWith('role_definition.'))
  const line = sections.get('role_definition') ?? 1
  const places = domain?.scopedRoles === true ? 3 : 2
  if (definitions.join() !== (inheritance ? 'role_definition.g' : '')) {
    complain(
      line,
      'the role_definition is outside the index grammar, which has only "g" with g() in the matcher',
    )
  } else if (
    inheritance &&
    splitNames(entries.get('role_definition.g')?.value ?? '').length !== places
  ) {
    complain(
      line,
      'the matcher calls g() with another number of names than the role_definition has',
    )
  }
}
