import type { Problem } from '../errors.ts'
import { createCasbinLineReader } from './casbin-lines.ts'
import { createCoveredLineReader } from './covered-lines.ts'
import { columnOf, splitLine } from './csv-line.ts'
import { type BadLine, badLine } from './line-reader.ts'
import type { Model } from './model.ts'
import { type Inheritance, type Origin, quote, type Rule } from './rule.ts'
import { finish, rowsPerStep, type Steps } from './steps.ts'

/** What one policy file holds. */
export interface PolicyLines {
  readonly rules: readonly Rule[]
  readonly inheritances: readonly Inheritance[]
  /** The line of `# postern: empty`, by which a file says that there are no rules on purpose. */
  readonly declaredEmpty: number | undefined
}

/**
 * Reads Casbin lines: `p` and the columns of a rule, `g` and the places of an inheritance, `#`
 * comments and blank lines. Every line that casbin would skip, cut or misread in silence is reported.
 */
export function createCsvParser(model: Model, report: (problem: Problem) => void) {
  const parseInSteps = createSteppedCsvParser(model, report)
  return (file: PolicyTable): PolicyLines => finish(parseInSteps(file))
}

/** What `createCsvParser` makes, in steps. */
export function createSteppedCsvParser(model: Model, report: (problem: Problem) => void) {
  const readLine = createLineReader(model)

  return function* parseInSteps(file: PolicyTable): Steps<PolicyLines> {
    const rules: Rule[] = []
    const inheritances: Inheritance[] = []
    let declaredEmpty: number | undefined

    let line = 0
    for (const raw of linesOf(file.text)) {
      const text = raw.trim()
      if (++line % rowsPerStep === 0) yield
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

interface PolicyTable {
  readonly name: string
  readonly text: string
}

/** The lines one by one: all at once they would be a second copy of a large file. */
function* linesOf(text: string): Generator<string> {
  let start = text.startsWith('\uFEFF') ? 1 : 0
  for (let end = text.indexOf('\n', start); end !== -1; end = text.indexOf('\n', start)) {
    yield text.slice(start, end)
    start = end + 1
  }
  yield text.slice(start)
}

function createLineReader(model: Model) {
  const { readRule, readInheritance, forms } =
    model.casbin === undefined
      ? createCoveredLineReader(model)
      : createCasbinLineReader(model.casbin)

  return function readLine(line: string, origin: Origin): Rule | Inheritance | BadLine {
    const fields = splitLine(line)
    if (typeof fields === 'string') return badLine(fields)
    const type = fields[0] ?? ''
    if (!/^(?:p|g\d*)$/.test(type)) return badLine(`unknown line type ${quote(type)}: ${forms}`)
    const empty = fields.indexOf('', 1)
    if (empty > 0) return badLine('empty field: fill it or take the comma away', empty)
    return type === 'p' ? readRule(fields, origin) : readInheritance(fields, origin)
  }
}
