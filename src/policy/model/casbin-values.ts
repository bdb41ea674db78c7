import { methodListProblem } from '../rule/methods.ts'
import { patternProblem } from '../rule/pattern.ts'
import { methodProblem, nameProblem, quote } from '../rule/rule.ts'
import type { Column, ColumnUse } from './columns.ts'

/**
 * What is wrong with a value in a column of the rules, or `undefined`. Casbin turns some columns into
 * regular expressions: such a value must mean the same literally and match in linear time.
 */
export function valueProblem({ name, uses, literals }: Column, text: string): string | undefined {
  const problem = nameProblem(`column ${quote(name)}`, text)
  if (problem !== undefined) return problem
  if (name === 'eft' && text !== 'allow' && text !== 'deny') {
    return `invalid effect ${quote(text)}: write allow or deny`
  }
  if (name === 'priority' && !/^(?:0|[1-9]\d{0,8})$/.test(text)) {
    return `invalid priority ${quote(text)}: write a whole number; lower numbers come first`
  }
  // The matcher compares with this text, and no function misreads it.
  if (literals.includes(text) && isHarmless(text, uses)) return undefined
  return (
    patternColumnProblem(uses, text) ?? (uses.includes('method') ? methodProblem(text) : undefined)
  )
}

function isHarmless(text: string, uses: readonly ColumnUse[]): boolean {
  if (uses.includes('keyMatch3') || uses.includes('regexMatch')) return false
  return text === '*' || !uses.includes('keyMatch2')
}

/** What is wrong with a text that a matcher uses as a path or as a pattern, or `undefined`. */
export function patternColumnProblem(uses: readonly ColumnUse[], text: string): string | undefined {
  const listProblem = uses.includes('regexMatch') ? methodListProblem(text) : undefined
  if (listProblem !== undefined) return listProblem
  if (uses.includes('prefix') && /\*./.test(text)) {
    return `"*" is only allowed at the end: Casbin ignores everything after the first one`
  }
  if (!uses.some((use) => pathUses.has(use))) return undefined
  const regex = uses.includes('keyMatch2') || uses.includes('keyMatch3')
  if (regex && /\.|[^/]:/.test(text)) {
    return `path ${quote(text)}: with this model "." would match any character, and ":" starts a parameter; the index grammar takes both literally`
  }
  const match = { keyMatch: uses.includes('keyMatch') && !regex, keyMatch2: regex }
  if (!uses.includes('keyMatch3')) return patternProblem(text, match)
  return bracesProblem(text) ?? patternProblem(withColons(text), match)
}

const pathUses: ReadonlySet<ColumnUse> = new Set(['path', 'keyMatch', 'keyMatch2', 'keyMatch3'])

/** An unclosed brace makes keyMatch3 loop forever. */
function bracesProblem(text: string): string | undefined {
  for (const segment of text.split('/')) {
    if (/[{}:]/.test(segment) && !braces.test(segment)) {
      return `${quote(segment)} is not a valid parameter: write "{name}" as the whole segment`
    }
  }
  return undefined
}

const braces = /^\{([A-Za-z0-9_-]+)\}$/

function withColons(text: string): string {
  return text
    .split('/')
    .map((segment) => segment.replace(braces, ':$1'))
    .join('/')
}
