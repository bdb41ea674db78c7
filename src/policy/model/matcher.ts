import { quote } from '../rule/rule.ts'
import { type Expression, isPlainText, operandsOf, parseExpression, textOf } from './expression.ts'
import type { DomainMatch } from './model.ts'
import type { SuperuserClause } from './superuser.ts'

/** The names that a model gives to role, path and method, in the request and in the policy. */
export interface FieldNames extends DomainNames {
  readonly request: readonly [role: string, path: string, method: string]
  readonly policy: readonly [role: string, path: string, method: string]
}

/** How a matcher of the index grammar compares role, path and method. */
export interface Matcher extends RuleMatcher {
  readonly superusers: readonly SuperuserClause[]
  /** The matcher in its one spelling. */
  readonly text: string
}

interface RuleMatcher {
  readonly inheritance: boolean
  readonly keyMatch: boolean
  readonly keyMatch2: boolean
  readonly anyMethod: boolean
  readonly methodLists: boolean
  readonly domain?: DomainMatch
}

/**
 * Recognizes a matcher of the index grammar, whatever its order and spacing: the role equal or by
 * `g()`, AND any of keyMatch, keyMatch2 and `==` on the path, AND the method equal, by regexMatch or
 * `*`; with a domain, AND the domain equal, by keyMatch or `*`; OR a superuser, as `r.sub == "root"` or `g(r.sub, "root")`. For any other matcher, returns the
 * parts outside that grammar.
 */
export function recognizeMatcher(text: string, names: FieldNames): Matcher | readonly string[] {
  const expression = parseExpression(text)
  if (expression === undefined) return [`the matcher ${quote(text)} is outside the index grammar`]

  const leaves = indexLeaves(names)
  const operands = operandsOf(expression, '||')
  const superusers = operands.flatMap((operand) => superuserClause(operand, names) ?? [])
  const others = operands
    .filter((operand) => superuserClause(operand, names) === undefined)
    .map((operand) => ({ text: textOf(operand), rules: recognizeRules(operand, leaves) }))
  const [only, ...more] = others
  if (more.length > 0) {
    const unknown = others.filter(({ rules }) => !('inheritance' in rules))
    return outsideOf((unknown.length > 0 ? unknown : more).map((each) => each.text))
  }
  const rules = only?.rules ?? []
  if (!('inheritance' in rules)) return rules
  // A deny rule of any domain would deny a superuser everything, so no domain could be read by itself.
  const isRead = (inherited: boolean) => !inherited || rules.inheritance
  const calls = superusers.filter(
    ({ inherited }) => rules.domain !== undefined || !isRead(inherited),
  )
  if (calls.length > 0) return outsideOf(calls.map((clause) => clause.text))
  return { ...rules, superusers, text: textOf(expression) }
}

function outsideOf(texts: readonly string[]): readonly string[] {
  return texts.map((text) => `${quote(text)} is outside the index grammar`)
}

/** `r.sub == "root"`, or `g(r.sub, "root")`. */
function superuserClause(
  expression: Expression,
  { request: [role] }: FieldNames,
): SuperuserClause | undefined {
  const isCall = expression.kind === 'call' && expression.name === 'g'
  const isEqual = expression.kind === 'comparison' && expression.operator === '=='
  if (!isCall && !isEqual) return undefined
  const [field, name = '', ...more] = expression.operands
  if (field !== `r.${role}` || more.length > 0 || !isPlainText(name)) return undefined
  return { roleKey: name.slice(1, -1), inherited: isCall, text: textOf(expression) }
}

function recognizeRules(
  expression: Expression,
  leaves: IndexLeaves,
): RuleMatcher | readonly string[] {
  const found: { [part in Part]?: readonly string[] } = {}
  const problems: string[] = []
  for (const operand of operandsOf(expression, '&&')) {
    const alternatives = operandsOf(operand, '||').map(textOf)
    const covering = parts.find((part) => {
      return found[part] === undefined && alternatives.every((leaf) => leaves[part].includes(leaf))
    })
    if (covering === undefined) problems.push(...outsideOf([textOf(operand)]))
    else found[covering] = alternatives
  }
  if (problems.length > 0) return problems

  const { role = [], path = [], method = [], domain = [] } = found
  const [isMethod, isStar, matchesMethod] = leaves.method
  if (role.length === 0) problems.push('the matcher does not compare the role')
  if (path.length === 0) problems.push('the matcher does not compare the path')
  if (!method.includes(isMethod) && !method.includes(matchesMethod)) {
    problems.push('the matcher does not compare the method')
  }
  const compared = domainMatch(leaves.domains, { role, domain })
  if (typeof compared === 'string') problems.push(compared)
  if (problems.length > 0 || typeof compared === 'string') return problems

  // Casbin throws when regexMatch() gets "*", unless an earlier alternative has already said yes.
  const list = method.indexOf(matchesMethod)
  const star = method.indexOf(isStar)
  return {
    inheritance: role.some((leaf) => leaf !== leaves.role[0]),
    keyMatch: path.includes(leaves.path[1]),
    keyMatch2: path.includes(leaves.path[2]),
    anyMethod: star !== -1 && (list === -1 || star < list),
    methodLists: list !== -1,
    ...(compared !== undefined && { domain: compared }),
  }
}

type Part = 'role' | 'path' | 'method' | 'domain'
const parts: readonly Part[] = ['role', 'path', 'method', 'domain']

type Leaves = readonly [string, string, string, ...string[]]
interface IndexLeaves extends Readonly<Record<Exclude<Part, 'domain'>, Leaves>> {
  readonly domain: readonly string[]
  /** Unset: requests have no domain. */
  readonly domains: DomainLeaves | undefined
}

function indexLeaves(names: FieldNames): IndexLeaves {
  const { request, policy } = names
  const [role, path, method] = request
  const [policyRole, policyPath, policyMethod] = policy
  const paths = `(r.${path}, p.${policyPath})`
  const methods = `(r.${method}, p.${policyMethod})`
  const domains = domainLeaves(names)
  return {
    role: [
      `r.${role} == p.${policyRole}`,
      `g(r.${role}, p.${policyRole})`,
      ...((domains === undefined ? [''] : domains.scopedRoles) as [string, ...string[]]),
    ],
    domain: domains?.all ?? [],
    domains,
    path: [`r.${path} == p.${policyPath}`, `keyMatch${paths}`, `keyMatch2${paths}`],
    method: [
      `r.${method} == p.${policyMethod}`,
      `p.${policyMethod} == "*"`,
      `regexMatch${methods}`,
    ],
  }
}

/** The names of the domain, in the request and in the policy; unset: it has none. */
interface DomainNames {
  readonly domain?: string
  readonly policyDomain?: string
}

/** The conditions on a domain that the index grammar has. */
interface DomainLeaves {
  /** `g()` in the domain of the request, and in that of the rule. */
  readonly scopedRoles: readonly [inRequest: string, inRule: string]
  /** What rules do with their domain: empty if they have none. */
  readonly all: readonly string[]
}

/** `undefined` for requests without a domain. */
function domainLeaves({
  request: [role],
  policy: [policyRole],
  domain,
  policyDomain,
}: DomainNames & {
  readonly request: readonly [role: string, ...others: string[]]
  readonly policy: readonly [role: string, ...others: string[]]
}): DomainLeaves | undefined {
  if (domain === undefined) return undefined
  const roles = `r.${role}, p.${policyRole}`
  return {
    scopedRoles: [`g(${roles}, r.${domain})`, `g(${roles}, p.${policyDomain ?? ''})`],
    all:
      policyDomain === undefined
        ? []
        : [
            `r.${domain} == p.${policyDomain}`,
            `p.${policyDomain} == "*"`,
            `keyMatch(r.${domain}, p.${policyDomain})`,
          ],
  }
}

/** How the conditions on role and domain compare domains; a text for those outside the grammar. */
function domainMatch(
  leaves: DomainLeaves | undefined,
  { role, domain }: { readonly role: readonly string[]; readonly domain: readonly string[] },
): DomainMatch | string | undefined {
  if (leaves === undefined) return undefined
  const [inRequest, inRule] = leaves.scopedRoles
  const [isEqual = '', isStar = '', matches = ''] = leaves.all
  const scopedRoles = role.includes(inRequest) || role.includes(inRule)
  const isUnscoped = role.some(
    (leaf) => leaf.startsWith('g(') && leaf !== inRequest && leaf !== inRule,
  )
  if (scopedRoles && isUnscoped) return 'g() with and without a domain is outside the index grammar'
  if (leaves.all.length === 0 && scopedRoles) return { rules: 'every', scopedRoles }
  if (!domain.includes(isEqual) && !domain.includes(matches)) {
    return 'the matcher does not compare the domains of request and rule'
  }
  const rules = domain.includes(matches) ? 'prefix' : domain.includes(isStar) ? 'any' : 'equal'
  // In a rule for several domains, the domain of the rule is not that of the request.
  if (role.includes(inRule) && rules !== 'equal') {
    return `${inRule} is outside the index grammar where rules count in several domains`
  }
  return { rules, scopedRoles }
}
