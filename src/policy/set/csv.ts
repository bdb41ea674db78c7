import type { Problem } from '../../errors.ts'
import type { Model } from '../model/model.ts'
import { type Inheritance, type Origin, quote, type Rule } from '../rule/rule.ts'
import { finish, rowsPerStep, type Steps } from '../rule/steps.ts'
import { createCasbinLineReader } from './casbin-lines.ts'
import { createCoveredLineReader } from './covered-lines.ts'
import { columnOf, splitLine } from './csv-line.ts'
import { type KnownFile, type Line, sameLines } from './line-memory.ts'
import { type BadLine, badLine } from './line-reader.ts'

/** What one policy file holds. */
export interface PolicyLines {
  readonly rules: readonly Rule[]
  readonly inheritances: readonly Inheritance[]
  /** The line of `# postern: empty`, by which a file says that there are no rules on purpose. */
  readonly declaredEmpty: number | undefined
  /** Each line of the file, whatever it says. */
  readonly lines: readonly Line[]
}

/**
 * Reads Casbin lines: `p` and the columns of a rule, `g` and the places of an inheritance, `#`
 * comments and blank lines. Every line that casbin would skip, cut or misread in silence is reported.
 */
export function createCsvParser(model: Model, report: (problem: Problem) => void) {
  const parseInSteps = createSteppedCsvParser(model, report)
  return (file: PolicyTable): PolicyLines => finish(parseInSteps(file))
}

/**
 * What `createCsvParser` makes, in steps. Lines that are known under the same model, and were good,
 * are not read again.
 */
export function createSteppedCsvParser(model: Model, report: (problem: Problem) => void) {
  const readLine = createLineReader(model)

  return function* parseInSteps(file: PolicyTable, known?: KnownFile): Steps<PolicyLines> {
    const lines: Line[] = []
    const rules: Rule[] = []
    const inheritances: Inheritance[] = []
    let declaredEmpty: number | undefined

    function take(line: Line): void {
      lines.push(line)
      if (line === undefined) return
      if ('path' in line) rules.push(line)
      else inheritances.push(line)
    }

    const same = sameLines(file.text, known)
    for (const line of same.head) {
      take(line)
      if (lines.length % rowsPerStep === 0) yield
    }
    for (const raw of linesOf(file.text, same)) {
      const line = lines.length + 1
      if (line % rowsPerStep === 0) yield
      const first = raw.trimStart()[0]
      if (first === '#' && /^#\s*postern:\s*empty$/.test(raw.trim())) declaredEmpty ??= line
      if (first === '#' && otherLineEnds.test(raw.trim())) {
        report({ file: file.name, line, message: hiddenLine })
      }
      if (first === undefined || first === '#') {
        take(undefined)
        continue
      }
      const result = readLine(raw, Object.freeze({ file: file.name, line }))
      if (!('problems' in result)) {
        take(result)
        continue
      }
      take(undefined)
      for (const { field, message } of result.problems) {
        report({ file: file.name, line, column: columnOf(raw, field), message })
      }
    }
    for (const line of same.tail) {
      take(movedTo(lines.length + 1, line))
      if (lines.length % rowsPerStep === 0) yield
    }
    return { rules, inheritances, declaredEmpty, lines }
  }
}

function movedTo(line: number, known: Line): Line {
  if (known === undefined || known.origin.line === line) return known
  return Object.freeze({ ...known, origin: Object.freeze({ file: known.origin.file, line }) })
}

/** Where an editor may begin a new line and we do not: a rule behind it would be part of a comment. */
const otherLineEnds = /[\r\v\f\u0085\u2028\u2029]/
const hiddenLine =
  'a comment has a line end that is none here (CR alone, U+2028 or the like), and what follows it would be hidden: end lines with LF or CRLF'

interface PolicyTable {
  readonly name: string
  readonly text: string
}

/** The lines between, one by one: all at once they would be a second copy of a large file. */
function* linesOf(
  text: string,
  { headEnd, tailStart }: { readonly headEnd: number; readonly tailStart: number },
): Generator<string> {
  let start = headEnd === 0 && text.startsWith('\uFEFF') ? 1 : headEnd
  while (start < tailStart) {
    const end = text.indexOf('\n', start)
    if (end === -1) break
    yield text.slice(start, end)
    start = end + 1
  }
  if (tailStart === text.length) yield text.slice(start)
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
    if (type !== 'p' && !/^g\d*$/.test(type))
      return badLine(`unknown line type ${quote(type)}: ${forms}`)
    const empty = fields.indexOf('', 1)
    if (empty > 0) return badLine('empty field: fill it or take the comma away', empty)
    return type === 'p' ? readRule(fields, origin) : readInheritance(fields, origin)
  }
}
