import type { DomainMatch } from './model.ts'

/** The names of the domain, in the request and in the policy; unset: it has none. */
export interface DomainNames {
  readonly domain?: string
  readonly policyDomain?: string
}

/** The conditions on a domain that the index grammar has. */
export interface DomainLeaves {
  /** `g()` in the domain of the request, and in that of the rule. */
  readonly scopedRoles: readonly [inRequest: string, inRule: string]
  /** What rules do with their domain: empty if they have none. */
  readonly all: readonly string[]
}

/** `undefined` for requests without a domain. */
export function domainLeaves({
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
export function domainMatch(
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
    return 'the matcher does not compare the domain of the request with that of the rule'
  }
  const rules = domain.includes(matches) ? 'prefix' : domain.includes(isStar) ? 'any' : 'equal'
  // In a rule for several domains, the domain of the rule is not that of the request.
  if (role.includes(inRule) && rules !== 'equal') {
    return `${inRule} is outside the index grammar where rules count in several domains`
  }
  return { rules, scopedRoles }
}
