import type { Problem } from '../errors.ts'
import { columnOf, splitLine } from './csv-line.ts'
import type { Model } from './model.ts'
import { patternProblem } from './pattern.ts'
import {
  ANY_METHOD,
  type Effect,
  type Inheritance,
  methodProblem,
  type Origin,
  quote,
  type Rule,
} from './rule.ts'
import { createTexts } from './texts.ts'

/** What one policy file holds. */
export interface PolicyLines {
  readonly rules: readonly Rule[]
  readonly inheritances: readonly Inheritance[]
  /** The line of `# postern: empty`, by which a file says that there are no rules on purpose. */
  readonly declaredEmpty: number | undefined
}

/**
 * Reads Casbin lines: `p, role, path, method[, effect]` and `g, role, parent`, `#` comments and
 * blank lines. Every line that casbin would skip, cut or misread in silence is reported.
 */
export function createCsvParser(model: Model, report: (problem: Problem) => void) {
  const readLine = createLineReader(model)

  return function parseCsv(file: { readonly name: string; readonly text: string }): PolicyLines {
    const rules: Rule[] = []
    const inheritances: Inheritance[] = []
    let declaredEmpty: number | undefined

    for (const [index, raw] of withoutByteOrderMark(file.text).split('\n').entries()) {
      const text = raw.trim()
      const line = index + 1
      if (text === '') continue
      if (text.startsWith('#')) {
        if (/^#\s*postern:\s*empty$/.test(text)) declaredEmpty ??= line
        continue
      }
      const result = readLine(raw, Object.freeze({ file: file.name, line }))
      if ('problems' in result) {
        for (const { field, message } of result.problems) {
          report({ file: file.name, line, column: columnOf(raw, field), message })
        }
      } else if ('path' in result) rules.push(result)
      else inheritances.push(result)
    }
    return { rules, inheritances, declaredEmpty }
  }
}

/** What is wrong with a line, and in which of its fields. */
interface BadLine {
  readonly problems: readonly { readonly field: number; readonly message: string }[]
}

function badLine(message: string, field = 0): BadLine {
  return { problems: [{ field, message }] }
}

/** From one problem, or none, for each field after the type. */
function badFields(messages: readonly (string | undefined)[]): BadLine {
  const problems = messages.flatMap((message, index) =>
    message === undefined ? [] : [{ field: index + 1, message }],
  )
  return { problems }
}

function createLineReader(model: Model) {
  const pathProblem = (path: string) => patternProblem(path, model.path)
  const roles = createTexts((text) => roleProblem(text) === undefined)
  const paths = createTexts((text) => pathProblem(text) === undefined)
  const methods = createTexts((text) => ruleMethodProblem(text, model) === undefined)

  function readRule(fields: readonly string[], origin: Origin): Rule | BadLine {
    const most = model.effectColumn ? 5 : 4
    if (fields.length < 4 || fields.length > most) {
      const form = `p, role, path, method${model.effectColumn ? ', allow|deny' : ''}`
      return badLine(`${fields.length} columns: a rule is "${form}"`, most)
    }
    const [, roleText = '', pathText = '', methodText = '', effect = 'allow'] = fields
    const roleKey = roles.take(roleText)
    const path = paths.take(pathText)
    const method = methods.take(methodText)
    const misused = effectProblem(effect, model)
    if (roleKey !== undefined && path !== undefined && method !== undefined && !misused) {
      return Object.freeze({ roleKey, path, method, effect: effect as Effect, origin })
    }
    const problems = [roleProblem(roleText), pathProblem(pathText)]
    return badFields([...problems, ruleMethodProblem(methodText, model), misused])
  }

  function readInheritance(fields: readonly string[], origin: Origin): Inheritance | BadLine {
    if (!model.inheritance) return badLine(noInheritance)
    if (fields.length !== 3) {
      return badLine(`${fields.length} columns: an inheritance is "g, role, parent"`, 3)
    }
    const [, roleText = '', parentText = ''] = fields
    const roleKey = roles.take(roleText)
    const parentKey = roles.take(parentText)
    if (roleKey !== undefined && parentKey !== undefined) {
      return Object.freeze({ roleKey, parentKey, origin })
    }
    return badFields([roleProblem(roleText), roleProblem(parentText)])
  }

  return function readLine(line: string, origin: Origin): Rule | Inheritance | BadLine {
    const fields = splitLine(line)
    if (typeof fields === 'string') return badLine(fields)
    const type = fields[0] ?? ''
    if (type !== 'p' && type !== 'g')
      return badLine(`unknown line type ${quote(type)}: ${lineForms}`)
    const empty = fields.indexOf('', 1)
    if (empty > 0) return badLine('empty field: fill it or take the comma away', empty)
    return type === 'p' ? readRule(fields, origin) : readInheritance(fields, origin)
  }
}

const lineForms = 'a line is "p, role, path, method" or "g, role, parent"'
const noInheritance =
  'the model knows no inheritance: it needs [role_definition] "g = _, _" and g(r.sub, p.sub) in the matcher'

function withoutByteOrderMark(text: string): string {
  return text.startsWith('\uFEFF') ? text.slice(1) : text
}

function roleProblem(roleKey: string): string | undefined {
  // What a reviewer cannot see must not make two role keys out of one.
  if (/[\p{C}\p{Zl}\p{Zp}]/u.test(roleKey)) {
    return `role key ${quote(roleKey)} has control or invisible characters: take them out`
  }
  // Casbin joins fields until brackets balance, and would read other columns than we do.
  if (roleKey.split('(').length !== roleKey.split(')').length) {
    return `role key ${quote(roleKey)} has a bracket without its partner`
  }
  return undefined
}

function ruleMethodProblem(method: string, model: Model): string | undefined {
  if (method !== ANY_METHOD) return methodProblem(method)
  return model.anyMethod ? undefined : 'the model gives "*" no meaning: name the method'
}

function effectProblem(effect: string, model: Model): string | undefined {
  if (effect === 'allow') return undefined
  if (effect !== 'deny') return `effect ${quote(effect)}: write allow or deny`
  if (model.denyOverrides) return undefined
  return 'the effect of the model ignores deny: end it with "&& !some(where (p.eft == deny))"'
}
