/** A condition of a matcher. Operands are fields (`r.sub`, `p.sub`) or texts in double quotes. */
export type Expression = Joined | Negation | Comparison | Call

/** Several conditions, all or any of which have to hold. */
interface Joined {
  readonly kind: 'joined'
  readonly operator: '&&' | '||'
  readonly operands: readonly Expression[]
}

/** A condition that must not hold. */
interface Negation {
  readonly kind: 'negation'
  readonly operand: Expression
}

/** Two operands that have to be equal, or different. */
export interface Comparison {
  readonly kind: 'comparison'
  readonly operator: '==' | '!='
  readonly operands: readonly [string, string]
}

/** A function that has to say yes. */
export interface Call {
  readonly kind: 'call'
  readonly name: string
  readonly operands: readonly string[]
}

/**
 * Parses the part of Casbin's matcher language that compares and joins: names, strings, `==`, `!=`,
 * calls, `&&`, `||`, `!`, parentheses. Returns `undefined` for anything else. The result is the same
 * whatever the spacing, the order of the two sides of a comparison and superfluous parentheses.
 */
export function parseExpression(text: string): Expression | undefined {
  if (text.length > longest) return undefined
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
    return operands.length === 1 ? only : ({ kind: 'joined', operator, operands } as const)
  }

  function either(): Expression | undefined {
    // People nest two levels; a thousand levels would exhaust the stack.
    if (depth === deepest) return undefined
    depth++
    const result = joined('||', both)
    depth--
    return result
  }
  const both = () => joined('&&', condition)

  function condition(): Expression | undefined {
    if (accept('!')) return negation()
    if (accept('(')) {
      const inner = either()
      return accept(')') ? inner : undefined
    }
    const left = tokens[at++]
    if (left === undefined || !isOperand(left)) return undefined
    if (accept('(')) return call(left)
    const operator = tokens[at++]
    if (operator !== '==' && operator !== '!=') return undefined
    const right = tokens[at++]
    if (right === undefined || !isOperand(right)) return undefined
    return { kind: 'comparison', operator, operands: inOrder(left, right) }
  }

  /** Only before parentheses or a call: `!a == b` is ambiguous. */
  function negation(): Expression | undefined {
    const inBrackets = tokens[at] === '('
    const operand = condition()
    if (operand === undefined || !(inBrackets || operand.kind === 'call')) return undefined
    return { kind: 'negation', operand }
  }

  function call(name: string): Expression | undefined {
    const operands: string[] = []
    do {
      const operand = tokens[at++]
      if (operand === undefined || !isOperand(operand)) return undefined
      operands.push(operand)
    } while (accept(','))
    return accept(')') ? { kind: 'call', name, operands } : undefined
  }

  const result = either()
  return at === tokens.length ? result : undefined
}

const deepest = 20
const longest = 4096

/** The operands that `operator` joins in an expression: itself alone when it is joined otherwise. */
export function operandsOf(expression: Expression, operator: '&&' | '||'): readonly Expression[] {
  return expression.kind === 'joined' && expression.operator === operator
    ? expression.operands
    : [expression]
}

/** The expression in one unambiguous spelling, with all parentheses. */
export function textOf(expression: Expression): string {
  switch (expression.kind) {
    case 'joined':
      return `(${expression.operands.map(textOf).join(` ${expression.operator} `)})`
    case 'negation':
      return `!(${textOf(expression.operand)})`
    case 'comparison':
      return expression.operands.join(` ${expression.operator} `)
    case 'call':
      return `${expression.name}(${expression.operands.join(', ')})`
  }
}

/** The comparisons and calls of an expression, from left to right. */
export function leavesOf(expression: Expression): readonly (Comparison | Call)[] {
  switch (expression.kind) {
    case 'joined':
      return expression.operands.flatMap(leavesOf)
    case 'negation':
      return leavesOf(expression.operand)
    default:
      return [expression]
  }
}

/** Whether an operand is a text that neither Casbin's rewriting nor its evaluator interprets. */
export function isPlainText(operand: string): boolean {
  return /^"[\p{L}\p{N}_\-./:*{}@]+"$/u.test(operand) && !isRewritten(operand)
}

/** Casbin takes "r." after such a character for a field, even in a text: "team-r.x" is "team-r_x". */
export function isRewritten(operand: string): boolean {
  return /[-/*][rp]\d*\./.test(operand)
}

function tokensOf(text: string): readonly string[] {
  const token = /\s*(&&|\|\||==|!=|[!(),]|"[^"]*"|'[^']*'|[\w.]+|\S)/gy
  return Array.from(text.matchAll(token), ([, found = '']) => found.replace(/^'(.*)'$/, '"$1"'))
}

function isOperand(token: string): boolean {
  return /^("|[\w.])/.test(token)
}

/** Request before policy before literal, as most models have it. */
function inOrder(left: string, right: string): readonly [string, string] {
  const rank = (side: string) => (side.startsWith('r.') ? 0 : side.startsWith('p.') ? 1 : 2)
  return rank(left) <= rank(right) ? [left, right] : [right, left]
}
