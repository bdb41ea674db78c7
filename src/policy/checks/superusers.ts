import type { ModelDefinition } from '../model/columns.ts'
import {
  type Expression,
  leavesOf,
  operandsOf,
  parseExpression,
  textOf,
} from '../model/expression.ts'
import type { Finding, Locate } from '../review/finding.ts'
import { createGrants } from '../review/grants.ts'
import { quote } from '../rule/rule.ts'
import type { PolicyFile, PolicySet } from '../set/policy-set.ts'

/**
 * Finds superuser clauses of the matcher that give nothing: for `admin`, and next to a deny rule,
 * which then matches every call of the superuser.
 */
export function checkSuperusers(
  set: PolicySet,
  files: readonly PolicyFile[],
  locate: Locate,
): Finding[] {
  const clauses = set.model.superusers ?? []
  if (clauses.length === 0) return []
  const { superuser } = createGrants(set)
  return clauses.flatMap(({ roleKey, inherited, text }): Finding[] => {
    const denying = superuser(roleKey)?.deniedBy
    if (denying !== undefined) {
      const message = `denies every call to ${quote(roleKey)}: with ${text} in the matcher, every rule matches this role, and this one denies; remove the clause or the deny rules`
      return [{ ...locate(denying.origin, 'line'), code: 'superuser-denied', message }]
    }
    if (roleKey !== 'admin' || inherited) return []
    const message = `no effect: admin skips the permission check without ${text} in the matcher`
    return [{ ...matcherIn(files), code: 'never-applies', message }]
  })
}

/** Finds clauses of a matcher, for models that Casbin evaluates, that let roles pass without naming them. */
export function checkOpenClauses({ model }: PolicySet, files: readonly PolicyFile[]): Finding[] {
  if (model.casbin === undefined) return []
  return openClauses(model.casbin).map((clause) => {
    const message = `${clause} in the matcher makes every rule match without comparing the role with a name: every role that it does not exclude may make these calls; name the roles with ==`
    return { ...matcherIn(files), code: 'open-matcher', message }
  })
}

function matcherIn(files: readonly PolicyFile[]): { readonly file: string; readonly line: number } {
  const model = files.find(({ name }) => name.endsWith('model.conf'))
  const lines = (model?.text ?? '').split('\n')
  const line = lines.findIndex((text) => /^\s*m\s*=/.test(text))
  return { file: model?.name ?? 'model.conf', line: Math.max(0, line) + 1 }
}

/**
 * The alternatives of a matcher that compare neither a policy column nor the role with a name, such as
 * `r.sub != "root"`: they also let roles pass that are created later.
 */
function openClauses({ matcher, request: [role] }: ModelDefinition): readonly string[] {
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
