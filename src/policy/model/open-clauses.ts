import type { ModelDefinition } from './columns.ts'
import { type Expression, leavesOf, operandsOf, parseExpression, textOf } from './expression.ts'

/**
 * The alternatives of a matcher that compare neither a policy column nor the role with a name, such as
 * `r.sub != "root"`: they also let roles pass that are created later.
 */
export function openClauses({ matcher, request: [role] }: ModelDefinition): readonly string[] {
  const expression = parseExpression(matcher)
  return (expression === undefined ? [] : operandsOf(expression, '||'))
    .filter((each) => !usesColumn(each) && !namesRole(each, `r.${role}`))
    .map(textOf)
}

function usesColumn(expression: Expression): boolean {
  return leavesOf(expression).some(({ operands }) => operands.some((each) => each.startsWith('p.')))
}

function namesRole(expression: Expression, role: string): boolean {
  switch (expression.kind) {
    case 'joined':
      return expression.operator === '&&'
        ? expression.operands.some((each) => namesRole(each, role))
        : expression.operands.every((each) => namesRole(each, role))
    case 'negation':
      return false
    case 'comparison':
      return expression.operator === '==' && expression.operands[0] === role
    case 'call':
      return expression.operands[0] === role
  }
}
