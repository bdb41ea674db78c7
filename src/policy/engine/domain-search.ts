import type { IndexDomains } from './index-domains.ts'
import { numbersWithSecond, pairNumber } from './tables/pair-table.ts'
import type { createPathTrie } from './tables/path-trie.ts'
import { numberOf } from './tables/text-table.ts'

/** Looks up what counts in one of these domains. */
export function createDomainSearch(
  { texts, roots, prefixes, prefixRoots, lengths, lineages }: IndexDomains,
  trie: ReturnType<typeof createPathTrie>,
) {
  return {
    /** Writes the patterns that a path matches in a domain to `found` and returns how many. */
    match(domain: string, path: string, found: number[]) {
      const own = numberOf(texts, domain)
      let count = own === -1 ? 0 : trie.matchBelow(roots[own] as number, path, found, 0)
      for (const length of lengths) {
        if (length > domain.length) break
        const prefix = numberOf(prefixes, length === 0 ? '' : domain.slice(0, length))
        if (prefix === -1) continue
        count = trie.matchBelow(prefixRoots[prefix] as number, path, found, count)
      }
      return count
    },

    /** The patterns that a path matches in any domain. */
    matchAnywhere(path: string): ReadonlySet<number> {
      const found: number[] = []
      let count = 0
      for (const root of [...roots, ...prefixRoots]) {
        count = trie.matchBelow(root, path, found, count)
      }
      return new Set(found)
    },

    /** The lists with the ancestors of a role in each domain; empty if they are the same in all. */
    lineagesOf: (role: number) => (lineages === undefined ? [] : numbersWithSecond(lineages, role)),

    /** Which list has the ancestors of a role in a domain. */
    lineageOf: (domain: string, role: number) =>
      lineages === undefined ? role : pairNumber(lineages, numberOf(texts, domain), role),
  }
}

/** Throws for what a claim could hold beside texts: Casbin's == takes `["north"]` for "north". */
export function isDomain(domain: string | undefined): domain is string {
  if (domain === undefined || domain === '') return false
  if (typeof domain !== 'string') throw new TypeError('the domain must be a string')
  return true
}
