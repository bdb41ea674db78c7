import { domainColumn, isDomainPattern } from '../model/domain-column.ts'
import type { DomainMatch } from '../model/model.ts'
import type { Rule } from '../rule/rule.ts'
import type { PolicySet } from '../set/policy-set.ts'

/** One domain, or all those that a pattern with `*` is about and that no line names. */
export interface DomainScope {
  readonly text: string
  readonly isPattern: boolean
}

/** Every domain that no line names. */
export const otherDomains: DomainScope = { text: '*', isPattern: true }

/**
 * Reads a policy of the index grammar domain by domain. In each, what is left is a policy without
 * domains, so that everything that reasons about those is exact.
 */
export function createDomainScopes({ rules, inheritances, ...set }: PolicySet, match: DomainMatch) {
  const { domain: _, definition: __, ...model } = set.model
  const places = new Map(rules.map((rule, place) => [rule, place]))
  const byColumn = Map.groupBy(rules, domainColumn)
  const links = Map.groupBy(inheritances, ({ domain }) => domain)
  const scopeOf = (text: string) => ({ text, isPattern: isDomainPattern(text, match) })
  const ofRules = [...byColumn.keys()].map(scopeOf)
  const patterns = ofRules.filter(({ isPattern }) => isPattern)
  const named = new Set([
    ...ofRules.filter(({ isPattern }) => !isPattern).map(({ text }) => text),
    ...[...links.keys()].flatMap((domain) => domain ?? []),
  ])

  function rulesIn(scope: DomainScope): readonly Rule[] {
    const covering = patterns.filter((pattern) => covers(pattern, scope))
    const exact = scope.isPattern ? [] : (byColumn.get(scope.text) ?? [])
    // Under `p.dom == "*"`, a request with the domain "*" has the rules of the pattern already.
    const own = covering.some(({ text }) => text === scope.text) ? [] : exact
    const wide = covering.flatMap(({ text }) => byColumn.get(text) ?? [])
    if (wide.length === 0) return own
    return [...own, ...wide].sort((a, b) => (places.get(a) ?? 0) - (places.get(b) ?? 0))
  }

  return {
    /** What rules and `g` lines name, patterns first, the widest of them first. */
    scopes: [
      ...patterns.toSorted((a, b) => a.text.length - b.text.length),
      ...[...named].sort().map((text) => ({ text, isPattern: false })),
    ],
    in: (scope: DomainScope): PolicySet =>
      Object.freeze({
        ...set,
        model,
        rules: rulesIn(scope),
        inheritances: !match.scopedRoles
          ? inheritances
          : scope.isPattern
            ? []
            : (links.get(scope.text) ?? []),
      }),
  }
}

/** Whether what counts in the domains of a pattern counts in another scope as well. */
export function covers({ text, isPattern }: DomainScope, other: DomainScope): boolean {
  if (!isPattern) return false
  const prefix = text.slice(0, -1)
  return (other.isPattern ? other.text.slice(0, -1) : other.text).startsWith(prefix)
}
