import { hasDomainColumn } from '../model/domain-column.ts'
import type { Model } from '../model/model.ts'
import { methodListProblem } from '../rule/methods.ts'
import { patternProblem } from '../rule/pattern.ts'
import { ANY_METHOD, type Effect, methodProblem, nameProblem, quote } from '../rule/rule.ts'
import { createInterner } from './interner.ts'
import { badFields, badLine, type LineReader } from './line-reader.ts'

/**
 * Reads lines under the index grammar: `p, role[, domain], path, method[, effect]` and `g, role,
 * parent[, domain]`.
 */
export function createIndexLineReader(model: Model): LineReader {
  const pathProblem = (path: string) => patternProblem(path, model.path)
  const roles = createInterner((text) => roleProblem(text) === undefined)
  const paths = createInterner((text) => pathProblem(text) === undefined)
  const methods = createInterner((text) => ruleMethodProblem(text, model) === undefined)
  const domains = createInterner((text) => domainProblem(text, model) === undefined)
  const hasDomain = hasDomainColumn(model)
  const least = hasDomain ? 5 : 4
  const most = model.effectColumn ? least + 1 : least
  const links = model.domain?.scopedRoles === true ? 4 : 3
  const ruleForm = `p, role${hasDomain ? ', domain' : ''}, path, method`
  const linkForm = `g, role, parent${links === 4 ? ', domain' : ''}`

  return {
    forms: `write "${ruleForm}" or "${linkForm}"`,

    readRule(fields, origin) {
      if (fields.length < least || fields.length > most) {
        const form = `${ruleForm}${model.effectColumn ? ', allow|deny' : ''}`
        return badLine(`${fields.length} columns: write "${form}"`, most)
      }
      const [, roleText = ''] = fields
      const domainText = hasDomain ? fields[2] : undefined
      const [pathText = '', methodText = '', effect = 'allow'] = fields.slice(least - 2)
      const domain = domainText === undefined ? undefined : domains.intern(domainText)
      const roleKey = roles.intern(roleText)
      const path = paths.intern(pathText)
      const method = methods.intern(methodText)
      const misused = effectProblem(effect, model)
      const isDomain = !hasDomain || domain !== undefined
      if (
        roleKey !== undefined &&
        path !== undefined &&
        method !== undefined &&
        !misused &&
        isDomain
      ) {
        const rule = { roleKey, path, method, effect: effect as Effect, origin }
        if (model.definition === undefined) return Object.freeze(rule)
        const named = domain === undefined ? [roleKey] : [roleKey, domain]
        const columns = [...named, path, method, ...(model.effectColumn ? [effect] : [])]
        const where = domain === undefined ? {} : { domain }
        return Object.freeze({ ...rule, fields: Object.freeze(columns), ...where })
      }
      const problems = [
        roleProblem(roleText),
        ...(domainText === undefined ? [] : [domainProblem(domainText, model)]),
        pathProblem(pathText),
      ]
      return badFields([...problems, ruleMethodProblem(methodText, model), misused])
    },

    readInheritance(fields, origin) {
      const [type = '', roleText = '', parentText = '', domainText] = fields
      if (!model.inheritance) return badLine(noInheritance)
      if (type !== 'g')
        return badLine(`${quote(type)} is not defined in the model: write "${linkForm}"`)
      if (fields.length !== links) {
        return badLine(`${fields.length} columns: write "${linkForm}"`, links)
      }
      const roleKey = roles.intern(roleText)
      const parentKey = roles.intern(parentText)
      const where = domainText === undefined ? undefined : nameProblem('domain', domainText)
      if (roleKey !== undefined && parentKey !== undefined && where === undefined) {
        const link = { roleKey, parentKey, origin }
        return Object.freeze(domainText === undefined ? link : { ...link, domain: domainText })
      }
      return badFields([roleProblem(roleText), roleProblem(parentText), where])
    },
  }
}

const noInheritance =
  '"g" is not defined in the model: add [role_definition] "g = _, _" and call g(r.sub, p.sub) in the matcher'

function roleProblem(roleKey: string): string | undefined {
  return nameProblem('role key', roleKey)
}

function domainProblem(domain: string, { domain: match }: Model): string | undefined {
  if (match?.rules === 'prefix' && /\*./.test(domain)) {
    return `domain ${quote(domain)}: "*" is only allowed at the end, because Casbin ignores everything after the first one`
  }
  return nameProblem('domain', domain)
}

function ruleMethodProblem(method: string, model: Model): string | undefined {
  if (method === ANY_METHOD && model.anyMethod) return undefined
  if (model.methodLists === true) return methodListProblem(method)
  if (method !== ANY_METHOD) return methodProblem(method)
  return 'the matcher does not support "*" as a method: name the method'
}

function effectProblem(effect: string, model: Model): string | undefined {
  if (effect === 'allow') return undefined
  if (effect !== 'deny') return `invalid effect ${quote(effect)}: write allow or deny`
  if (model.denyOverrides) return undefined
  return 'the policy_effect of the model ignores deny: append "&& !some(where (p.eft == deny))"'
}
