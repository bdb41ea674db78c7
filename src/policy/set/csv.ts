import type { Problem } from '../../kernel/errors.ts'
import type { Model } from '../model/model.ts'
import { type Inheritance, type Origin, quote, type Rule } from '../rule/rule.ts'
import { rowsPerStep, type Steps } from '../steps.ts'
import { createCasbinLineReader } from './casbin-lines.ts'
import { columnOf, inlineComment, splitLine } from './csv-line.ts'
import { createIndexLineReader } from './index-lines.ts'
import { type BadLine, badLine } from './line-reader.ts'
import { createUntilComments, looksLikeUntil, onlyAboveLines } from './until-comments.ts'

/** What one policy file holds. */
export interface PolicyLines {
  readonly rules: readonly Rule[]
  readonly inheritances: readonly Inheritance[]
  /** The line of `# postern: empty`, which declares that a policy without rules is intended. */
  readonly declaredEmpty: number | undefined
  /** Whether any of these lines expires. */
  readonly hasUntil: boolean
}

/**
 * Reads Casbin lines: `p` and the columns of a rule, `g` and the places of an inheritance, `#`
 * comments and blank lines. Reports every line that Casbin would silently skip, cut or misread.
 */
export function createCsvParser(model: Model, report: (problem: Problem) => void) {
  const readLine = createLineReader(model)

  return function* parse(file: PolicyTable): Steps<PolicyLines> {
    const rules: Rule[] = []
    const inheritances: Inheritance[] = []
    const comments = createUntilComments(file.name, report)
    let declaredEmpty: number | undefined
    let hasUntil = false
    let line = 0
    for (const raw of linesOf(file.text)) {
      if (++line % rowsPerStep === 0) yield
      const first = raw.trimStart()[0]
      if (first === '#' && /^#\s*postern:\s*empty$/.test(raw.trim())) declaredEmpty ??= line
      if (first === '#' && otherLineEnds.test(raw.trim())) {
        report({ file: file.name, line, message: hiddenLine })
      }
      if (first === '#') comments.take(raw.trim(), line)
      if (first === undefined) comments.drop()
      if (first === undefined || first === '#') continue
      const limit = comments.claim()
      if (raw.length > longestLine) {
        report({ file: file.name, line, message: tooLong(raw.length) })
        continue
      }
      const hash = raw.lastIndexOf('#')
      const result = readLine(raw, Object.freeze({ file: file.name, line }))
      if ('problems' in result) {
        // The last column of a `g` line is a role key, which may contain "#".
        const comment = first === 'p' ? inlineComment(raw) : undefined
        if (comment !== undefined) {
          report({ file: file.name, line, ...comment })
          continue
        }
        for (const { field, message } of result.problems) {
          report({ file: file.name, line, column: columnOf(raw, field), message })
        }
      } else if (hash !== -1 && looksLikeUntil(raw.slice(hash))) {
        report({ file: file.name, line, column: hash + 1, message: onlyAboveLines })
      } else if (limit === undefined) {
        if ('path' in result) rules.push(result)
        else inheritances.push(result)
      } else if ('path' in result && result.effect === 'deny') {
        report({ file: file.name, line: limit.line, message: deniesForever })
      } else {
        hasUntil = true
        const { until } = limit
        if ('path' in result) rules.push(Object.freeze({ ...result, until }))
        else inheritances.push(Object.freeze({ ...result, until }))
      }
    }
    comments.drop()
    return { rules, inheritances, declaredEmpty, hasUntil }
  }
}

const deniesForever =
  '"# postern: until" is not allowed above a line that denies: access would be granted when it expires; remove the comment'

/** Some editors start a new line here, but the parser does not: a rule after it would be part of the comment. */
const otherLineEnds = /[\r\v\f\u0085\u2028\u2029]/
const hiddenLine =
  'the comment contains a line break that does not end the line (a lone CR, U+2028 or similar), which would hide the text after it: end lines with LF or CRLF'

/** Longer than any rule, and short enough to split: a line of 50 MB could have as many columns. */
const longestLine = 16_384

function tooLong(length: number): string {
  return `the line has ${length.toLocaleString('en')} characters; at most ${longestLine.toLocaleString('en')} are allowed: end each rule with a line break`
}

interface PolicyTable {
  readonly name: string
  readonly text: string
}

/** Yields one line at a time: an array would be a second copy of a large file. */
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
    model.casbin === undefined ? createIndexLineReader(model) : createCasbinLineReader(model.casbin)

  return function readLine(line: string, origin: Origin): Rule | Inheritance | BadLine {
    const fields = splitLine(line)
    if (typeof fields === 'string') return badLine(fields)
    const type = fields[0] ?? ''
    if (type !== 'p' && !/^g\d*$/.test(type))
      return badLine(`unknown line type ${quote(type)}: ${forms}`)
    const empty = fields.indexOf('', 1)
    if (empty > 0) return badLine('empty field: fill it in or remove the comma', empty)
    return type === 'p' ? readRule(fields, origin) : readInheritance(fields, origin)
  }
}
