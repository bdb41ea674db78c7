import { quote } from '../rule/rule.ts'
import { operandsOf, parseExpression, textOf } from './expression.ts'

/** The names that a model gives to role, path and method, in the request and in the policy. */
export interface FieldNames {
  readonly request: readonly [role: string, path: string, method: string]
  readonly policy: readonly [role: string, path: string, method: string]
}

/** How a matcher of the index grammar compares role, path and method. */
export interface Matcher {
  readonly inheritance: boolean
  readonly keyMatch: boolean
  readonly keyMatch2: boolean
  readonly anyMethod: boolean
}

/**
 * Recognizes a matcher of the index grammar, whatever its order and spacing: the role equal or by
 * `g()`, AND any of keyMatch, keyMatch2 and `==` on the path, AND the method equal or `*`. For any
 * other matcher, returns the parts outside that grammar.
 */
export function recognizeMatcher(text: string, names: FieldNames): Matcher | readonly string[] {
  const expression = parseExpression(text)
  if (expression === undefined) return [`the matcher ${quote(text)} is outside the index grammar`]

  const leaves = indexLeaves(names)
  const found: { [part in Part]?: readonly string[] } = {}
  const problems: string[] = []
  for (const operand of operandsOf(expression, '&&')) {
    const alternatives = operandsOf(operand, '||').map(textOf)
    const covering = parts.find((part) => {
      return found[part] === undefined && alternatives.every((leaf) => leaves[part].includes(leaf))
    })
    if (covering === undefined)
      problems.push(`${quote(textOf(operand))} is outside the index grammar`)
    else found[covering] = alternatives
  }
  if (problems.length > 0) return problems

  const { role = [], path = [], method = [] } = found
  if (role.length === 0) problems.push('the matcher does not compare the role')
  if (path.length === 0) problems.push('the matcher does not compare the path')
  if (!method.includes(leaves.method[0])) problems.push('the matcher does not compare the method')
  if (problems.length > 0) return problems

  return {
    inheritance: role.includes(leaves.role[1]),
    keyMatch: path.includes(leaves.path[1]),
    keyMatch2: path.includes(leaves.path[2]),
    anyMethod: method.includes(leaves.method[1]),
  }
}

type Part = 'role' | 'path' | 'method'
const parts: readonly Part[] = ['role', 'path', 'method']

function indexLeaves({ request, policy }: FieldNames): { readonly [part in Part]: Leaves } {
  const [role, path, method] = request
  const [policyRole, policyPath, policyMethod] = policy
  const paths = `(r.${path}, p.${policyPath})`
  return {
    role: [`r.${role} == p.${policyRole}`, `g(r.${role}, p.${policyRole})`, ''],
    path: [`r.${path} == p.${policyPath}`, `keyMatch${paths}`, `keyMatch2${paths}`],
    method: [`r.${method} == p.${policyMethod}`, `p.${policyMethod} == "*"`, ''],
  }
}

type Leaves = readonly [string, string, string]
