/** A condition: a comparison or call in canonical spelling, or several joined by one operator. */
export type Expression = string | Joined

interface Joined {
  readonly operator: '&&' | '||'
  readonly operands: readonly Expression[]
}

/**
 * Parses the part of casbin's matcher language that compares and joins: names, strings, `==`, calls,
 * `&&`, `||`, brackets. Answers `undefined` for anything else. Spacing, the order of the two sides
 * of `==` and superfluous brackets leave no trace in the result.
 */
export function parseExpression(text: string): Expression | undefined {
  const tokens = tokensOf(text)
  let at = 0
  let depth = 0

  const accept = (token: string) => tokens[at] === token && ++at > 0

  function joined(operator: '&&' | '||', next: () => Expression | undefined) {
    const operands: Expression[] = []
    do {
      const operand = next()
      if (operand === undefined) return undefined
      operands.push(...operandsOf(operand, operator))
    } while (accept(operator))
    const [only] = operands
    return operands.length === 1 ? only : { operator, operands }
  }

  function either(): Expression | undefined {
    // A person nests twice; a thousand brackets are there to exhaust the stack.
    if (depth === deepest) return undefined
    depth++
    const result = joined('||', both)
    depth--
    return result
  }
  const both = () => joined('&&', condition)

  function condition(): Expression | undefined {
    if (accept('(')) {
      const inner = either()
      return accept(')') ? inner : undefined
    }
    const left = tokens[at++]
    if (left === undefined || !isOperand(left)) return undefined
    if (accept('(')) return call(left)
    if (!accept('==')) return undefined
    const right = tokens[at++]
    return right === undefined || !isOperand(right) ? undefined : comparison(left, right)
  }

  function call(name: string): Expression | undefined {
    const operands: string[] = []
    do {
      const operand = tokens[at++]
      if (operand === undefined || !isOperand(operand)) return undefined
      operands.push(operand)
    } while (accept(','))
    return accept(')') ? `${name}(${operands.join(', ')})` : undefined
  }

  const result = either()
  return at === tokens.length ? result : undefined
}

const deepest = 20

/** The operands that `operator` joins in an expression: itself alone when it is joined otherwise. */
export function operandsOf(expression: Expression, operator: '&&' | '||'): readonly Expression[] {
  return typeof expression !== 'string' && expression.operator === operator
    ? expression.operands
    : [expression]
}

/** The expression in one spelling, for comparing and for messages. */
export function textOf(expression: Expression): string {
  if (typeof expression === 'string') return expression
  return `(${expression.operands.map(textOf).join(` ${expression.operator} `)})`
}

function tokensOf(text: string): readonly string[] {
  const token = /\s*(&&|\|\||==|[(),]|"[^"]*"|'[^']*'|[\w.]+|\S)/gy
  return Array.from(text.matchAll(token), ([, found = '']) => found.replace(/^'(.*)'$/, '"$1"'))
}

function isOperand(token: string): boolean {
  return /^("|[\w.])/.test(token)
}

/** Request before policy before literal, as most models have it. */
function comparison(left: string, right: string): string {
  const rank = (side: string) => (side.startsWith('r.') ? 0 : side.startsWith('p.') ? 1 : 2)
  return rank(left) <= rank(right) ? `${left} == ${right}` : `${right} == ${left}`
}
