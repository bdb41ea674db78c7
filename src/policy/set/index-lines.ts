import type { Model } from '../model/model.ts'
import { methodListProblem } from '../rule/methods.ts'
import { patternProblem } from '../rule/pattern.ts'
import { ANY_METHOD, type Effect, methodProblem, nameProblem, quote } from '../rule/rule.ts'
import { createInterner } from './interner.ts'
import { badFields, badLine, type LineReader } from './line-reader.ts'

/** Reads lines under the index grammar: `p, role, path, method[, effect]` and `g, role, parent`. */
export function createIndexLineReader(model: Model): LineReader {
  const pathProblem = (path: string) => patternProblem(path, model.path)
  const roles = createInterner((text) => roleProblem(text) === undefined)
  const paths = createInterner((text) => pathProblem(text) === undefined)
  const methods = createInterner((text) => ruleMethodProblem(text, model) === undefined)

  return {
    forms: 'write "p, role, path, method" or "g, role, parent"',

    readRule(fields, origin) {
      const most = model.effectColumn ? 5 : 4
      if (fields.length < 4 || fields.length > most) {
        const form = `p, role, path, method${model.effectColumn ? ', allow|deny' : ''}`
        return badLine(`${fields.length} columns: write "${form}"`, most)
      }
      const [, roleText = '', pathText = '', methodText = '', effect = 'allow'] = fields
      const roleKey = roles.intern(roleText)
      const path = paths.intern(pathText)
      const method = methods.intern(methodText)
      const misused = effectProblem(effect, model)
      if (roleKey !== undefined && path !== undefined && method !== undefined && !misused) {
        const rule = { roleKey, path, method, effect: effect as Effect, origin }
        if (model.definition === undefined) return Object.freeze(rule)
        const columns = [roleKey, path, method, ...(model.effectColumn ? [effect] : [])]
        return Object.freeze({ ...rule, fields: Object.freeze(columns) })
      }
      const problems = [roleProblem(roleText), pathProblem(pathText)]
      return badFields([...problems, ruleMethodProblem(methodText, model), misused])
    },

    readInheritance(fields, origin) {
      const [type = '', roleText = '', parentText = ''] = fields
      if (!model.inheritance) return badLine(noInheritance)
      if (type !== 'g')
        return badLine(`${quote(type)} is not defined in the model: write "g, role, parent"`)
      if (fields.length !== 3) {
        return badLine(`${fields.length} columns: write "g, role, parent"`, 3)
      }
      const roleKey = roles.intern(roleText)
      const parentKey = roles.intern(parentText)
      if (roleKey !== undefined && parentKey !== undefined) {
        return Object.freeze({ roleKey, parentKey, origin })
      }
      return badFields([roleProblem(roleText), roleProblem(parentText)])
    },
  }
}

const noInheritance =
  '"g" is not defined in the model: add [role_definition] "g = _, _" and call g(r.sub, p.sub) in the matcher'

function roleProblem(roleKey: string): string | undefined {
  return nameProblem('role key', roleKey)
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
