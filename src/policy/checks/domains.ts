import { didYouMean } from '../../kernel/suggest.ts'
import { domainColumn, isDomainPattern } from '../model/domain-column.ts'
import { createDomainScopes } from '../review/domain-scopes.ts'
import type { Finding, Locate } from '../review/finding.ts'
import { createGrants } from '../review/grants.ts'
import { quote } from '../rule/rule.ts'
import type { PolicySet } from '../set/policy-set.ts'
import type { Tick } from '../steps.ts'
import { checkRules } from './rules.ts'

/**
 * `checkRules` for a model with a domain: a rule is compared with those that count wherever it does.
 * So a rule for every domain is redundant only beside another one for every domain.
 */
export function checkDomainRules(set: PolicySet, locate: Locate, tick: Tick): Finding[] {
  const { domain: match } = set.model
  if (match === undefined) return checkRules(set, locate, { tick })
  const domains = createDomainScopes(set, match)
  const found = domains.scopes.flatMap((scope, index) => {
    tick(index, domains.scopes.length)
    return checkRules(domains.in(scope), locate, {
      tick: () => {},
      isJudged: (rule) => {
        const column = domainColumn(rule)
        return column === scope.text && isDomainPattern(column, match) === scope.isPattern
      },
    })
  })
  const byPlace = Map.groupBy(found, ({ code, file, line }) => `${code} ${file}:${line}`)
  return [...byPlace.values()].flatMap(([first]) => first ?? [])
}

/**
 * Finds `g` lines that give a role nothing in their domain, although one of the roles has rules in
 * another: usually the domain is mistyped.
 */
export function checkDomainRoles(set: PolicySet, locate: Locate): Finding[] {
  const { domain: match } = set.model
  if (match?.scopedRoles !== true) return []
  const anywhere = createGrants(set)
  const withRules = new Set(set.rules.flatMap(({ domain = '*' }) => (domain === '*' ? [] : domain)))
  const domains = createDomainScopes(set, match)
  return domains.scopes.flatMap((scope) => {
    if (scope.isPattern) return []
    const { inheritances, ...rest } = domains.in(scope)
    const here = createGrants({ ...rest, inheritances })
    const grants = ({ lineage, rulesOf }: typeof here, roleKey: string) =>
      lineage(roleKey).some((each) => rulesOf(each).length > 0)
    return inheritances
      .filter(({ parentKey }) => !grants(here, parentKey) && grants(anywhere, parentKey))
      .map(({ parentKey, origin }): Finding => {
        const message = `role ${quote(parentKey)} has no rules in domain ${quote(scope.text)}, neither its own nor inherited ones${didYouMean(scope.text, withRules)}`
        return { ...locate(origin, 'domain'), code: 'role-without-rules', message }
      })
  })
}

/** `*` matches every method, so people expect it to match every domain. */
export function checkDomainWildcards(set: PolicySet, locate: Locate): Finding[] {
  const { domain: match } = set.model
  if (match === undefined) return []
  const lines = [
    ...(match.rules === 'equal' ? set.rules : []),
    ...(match.scopedRoles ? set.inheritances : []),
  ]
  return lines.flatMap((line): Finding[] => {
    if (line.domain?.includes('*') !== true) return []
    const message = `domain ${quote(line.domain)} is compared literally: "*" does not match every domain; ${'path' in line ? inRules : 'write one "g" line for each domain'}`
    return [{ ...locate(line.origin, 'domain'), code: 'domain-wildcard', message }]
  })
}

const inRules = 'write (r.dom == p.dom || p.dom == "*") in the matcher, or one rule for each domain'
