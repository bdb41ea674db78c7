import { domainColumn, isDomainPattern } from '../model/domain-column.ts'
import type { DomainMatch } from '../model/model.ts'
import type { Inheritance, Rule } from '../rule/rule.ts'
import { ancestorsInSteps } from '../set/inheritance.ts'
import { rowsPerStep, type Steps } from '../steps.ts'
import { ancestorEnds } from './ancestor-ends.ts'
import type { Lineages } from './lineages.ts'
import { createNumbers, type Numbers } from './tables/numbers.ts'
import { pairTableOf } from './tables/pair-table.ts'
import { tableOf } from './tables/text-table.ts'

/**
 * The domains of an index, in flat memory. Each has a trie of its own: a decision walks that of its
 * domain, and those of the prefixes that its domain begins with.
 */
export type IndexDomains = ReturnType<ReturnType<typeof createDomainRoots>['finish']>

/** Finds the root of the trie that a rule belongs to. */
export function createDomainRoots(match: DomainMatch, addRoot: () => number) {
  const exact = { numbers: createNumbers(), roots: [] as number[] }
  const prefixes = { numbers: createNumbers(), roots: [] as number[] }

  function rootIn({ numbers, roots }: typeof exact, text: string): number {
    const number = numbers.of(text)
    roots[number] ??= addRoot()
    return roots[number]
  }

  return {
    of(rule: Rule): number {
      const column = domainColumn(rule)
      return isDomainPattern(column, match)
        ? rootIn(prefixes, column.slice(0, -1))
        : rootIn(exact, column)
    },
    /** With the domains that only `g` lines name. */
    finish(lineages: ScopedLineages | undefined) {
      for (const { domain } of lineages?.owners ?? []) exact.numbers.of(domain)
      const texts = exact.numbers.texts
      const lengths = new Set(prefixes.numbers.texts.map(({ length }) => length))
      return {
        /** The domains that rules name, and `g` lines, if these count in one. */
        texts: tableOf(texts),
        /** For each by number the root of its trie, or `none`. */
        roots: Int32Array.from(texts, (_, number) => exact.roots[number] ?? 0),
        /** The texts before `*` in the domain column of rules; empty for every domain. */
        prefixes: tableOf(prefixes.numbers.texts),
        prefixRoots: Int32Array.from(prefixes.roots),
        /** The lengths of the prefixes, ascending. */
        lengths: [...lengths].sort((a, b) => a - b),
        /** Where the ancestors of a role in a domain are listed; unset: they are the same in every domain. */
        ...(lineages !== undefined && {
          lineages: pairTableOf(
            lineages.owners.map(({ domain, role }) => [exact.numbers.of(domain), role] as const),
          ),
        }),
      }
    },
  }
}

/** The ancestors of roles in one domain each. */
export interface ScopedLineages {
  /** List 0 is empty; list 1 belongs to the first owner. */
  readonly lineages: Lineages
  readonly owners: readonly { readonly domain: string; readonly role: number }[]
  /** When the way to each of the ancestors ends; unset: never. */
  readonly ends?: Float64Array
}

/** Numbers the roles that the inheritances name, and puts their ancestors in each domain into lists. */
export function* scopedLineages(
  inheritances: readonly Inheritance[],
  roles: Numbers,
): Steps<ScopedLineages> {
  const owners: ScopedLineages['owners'][number][] = []
  const starts = [0, 0]
  const ancestors: number[] = []
  const ends: number[] = []
  for (const [domain = '', group] of Map.groupBy(inheritances, (link) => link.domain)) {
    const endsOf = group.some(({ until }) => until !== undefined)
      ? yield* ancestorEnds(group)
      : undefined
    for (const [roleKey, above] of yield* ancestorsInSteps(group)) {
      for (const ancestor of above) {
        if (ancestors.push(roles.of(ancestor)) % rowsPerStep === 0) yield
        ends.push(endsOf?.get(roleKey)?.get(ancestor) ?? Number.POSITIVE_INFINITY)
      }
      owners.push({ domain, role: roles.of(roleKey) })
      starts.push(ancestors.length)
    }
  }
  const lineages = { starts: Int32Array.from(starts), ancestors: Int32Array.from(ancestors) }
  const isLasting = ends.every((end) => end === Number.POSITIVE_INFINITY)
  return { lineages, owners, ...(!isLasting && { ends: Float64Array.from(ends) }) }
}
