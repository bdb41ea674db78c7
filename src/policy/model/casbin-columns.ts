import { methodProblem, quote } from '../rule/rule.ts'
import { patternColumnProblem } from './casbin-values.ts'
import type { CasbinModel, Column, ColumnUse, Relation } from './columns.ts'
import {
  type Call,
  type Comparison,
  type Expression,
  isPlainText,
  isRewritten,
  leavesOf,
} from './expression.ts'

/** What the parts of a matcher may refer to. */
interface Definitions {
  readonly request: CasbinModel['request']
  readonly domain?: string
  readonly names: readonly string[]
  readonly relations: readonly Relation[]
}

/**
 * Finds out how a matcher uses each column of the rules. Rejects unknown fields, unsupported
 * functions, patterns that come from the request, and a matcher that ignores the role, the path, the
 * method or the domain.
 */
export function columnsOf(
  expression: Expression,
  definitions: Definitions,
  complain: (message: string) => void,
): readonly Column[] {
  const columns = new Map(
    definitions.names.map((name) => [
      `p.${name}`,
      { name, uses: new Set<ColumnUse>(), literals: new Set<string>() },
    ]),
  )
  const { request, domain } = definitions
  const fields = [...request, ...(domain === undefined ? [] : [domain])].map((name) => `r.${name}`)
  const seen = new Set<string>()

  function check(operand: string): boolean {
    seen.add(operand)
    if (columns.has(operand) || fields.includes(operand)) return true
    if (isText(operand)) {
      if (isPlainText(operand)) return true
      const hint = isRewritten(operand)
        ? 'Casbin replaces the dot of "r." and "p." after "-", "/" or "*"'
        : 'use letters, digits and _-./:*{}@'
      complain(`invalid string ${operand} in the matcher: ${hint}`)
    } else complain(`${quote(operand)} is neither a request field nor a policy column`)
    return false
  }

  function comparisonProblem({ operands: [left, right] }: Comparison): string | undefined {
    const column = columns.get(left) ?? columns.get(right)
    if (isText(left)) return `the matcher compares two constants, ${left} and ${right}`
    if (left === fields[1]) column?.uses.add('path')
    if (left === fields[2]) column?.uses.add('method')
    if (!isText(right)) return undefined
    const text = right.slice(1, -1)
    column?.literals.add(text)
    if (left === fields[1]) return patternColumnProblem(['path'], text)
    return left === fields[2] ? methodProblem(text) : undefined
  }

  function callProblem({ name, operands }: Call): string | undefined {
    const relation = definitions.relations.find((each) => each.name === name)
    if (relation !== undefined) {
      return operands.length === relation.places
        ? undefined
        : `${name}() takes ${relation.places} arguments, but the matcher passes ${operands.length}`
    }
    const [field = '', pattern = '', ...more] = operands
    const use = useOf(name, fields.indexOf(field))
    if (use === undefined || more.length > 0) {
      return `${name}(${operands.join(', ')}) is not supported: ${callable}`
    }
    if (isText(pattern)) return patternColumnProblem([use], pattern.slice(1, -1))
    const column = columns.get(pattern)
    column?.uses.add(use)
    return column === undefined
      ? `${name}(): the pattern ${quote(pattern)} comes from the request; use a policy column or a string`
      : undefined
  }

  for (const leaf of leavesOf(expression)) {
    if (!leaf.operands.map(check).every(Boolean)) continue
    const problem = leaf.kind === 'call' ? callProblem(leaf) : comparisonProblem(leaf)
    if (problem !== undefined) complain(problem)
  }
  for (const [index, field] of fields.entries()) {
    const part = ['role', 'path', 'method', 'domain'][index]
    if (!seen.has(field)) complain(`the matcher does not compare the ${part}`)
  }
  if (![...columns.keys()].some((column) => seen.has(column))) {
    complain('the matcher uses no policy column, so no rule would have an effect')
  }
  for (const [column, { uses }] of columns) {
    if (uses.has('keyMatch2') && uses.has('keyMatch3')) {
      complain(
        `${column} is used by keyMatch2() and keyMatch3(), which write parameters differently: use one of them`,
      )
    }
  }
  return [...columns.values()].map(({ name, uses, literals }) => ({
    name,
    uses: [...uses].sort(),
    literals: [...literals].sort(),
  }))
}

const callable =
  'use keyMatch() on a request field, keyMatch2(), keyMatch3() or keyMatch5() on the path, regexMatch() on the method, each with a policy column or a string, and the functions of [role_definition]'

function useOf(name: string, field: number): ColumnUse | undefined {
  switch (name) {
    case 'keyMatch':
      return field === -1 ? undefined : field === 1 ? 'keyMatch' : 'prefix'
    case 'keyMatch2':
      return field === 1 ? 'keyMatch2' : undefined
    // keyMatch5 differs from keyMatch3 only in how it handles a query, which canonical paths lack.
    case 'keyMatch3':
    case 'keyMatch5':
      return field === 1 ? 'keyMatch3' : undefined
    case 'regexMatch':
      return field === 2 ? 'regexMatch' : undefined
    default:
      return undefined
  }
}

function isText(operand: string): boolean {
  return operand.startsWith('"')
}
