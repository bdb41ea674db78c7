import type { Rule } from '../rule/rule.ts'
import type { Clock } from '../rule/until.ts'
import type { Engine, NearMiss, Question } from './decision.ts'
import type { createDomainSearch } from './domain-search.ts'
import type { RuleIndex } from './rule-index.ts'
import { type createRuleTable, kindsFor } from './rule-table.ts'
import type { createPathTrie } from './tables/path-trie.ts'
import { numberOf } from './tables/text-table.ts'

/** What an index engine looks rules up with. */
interface Lookups {
  readonly trie: ReturnType<typeof createPathTrie>
  readonly table: ReturnType<typeof createRuleTable>
  readonly domains: ReturnType<typeof createDomainSearch> | undefined
  readonly ruleAt: (position: number) => Rule
  readonly now: Clock
}

/** Enough to show that the domain is the reason: a role may have the same rule in a hundred. */
const mostElsewhere = 3

/** Finds the near misses of a denied call in an index. */
export function createNearMisses(
  { roles, lineages: { starts, ancestors }, expiry, table: { kinds } }: RuleIndex,
  { trie, table, domains, ruleAt, now }: Lookups,
): Engine['nearMisses'] {
  const isActive = (ends: Float64Array | undefined, place: number, at: number) =>
    at < (ends?.[place] ?? Number.POSITIVE_INFINITY)

  function ownRoles({ roleKey, domain = '' }: Question, at: number): ReadonlySet<number> {
    const role = numberOf(roles, roleKey)
    const list = domains?.lineageOf(domain, role) ?? role
    const own = new Set(role === -1 ? [] : [role])
    for (let up = starts[list] ?? 0; up < (starts[list + 1] ?? 0); up++) {
      if (isActive(expiry?.ancestors, up, at)) own.add(ancestors[up] as number)
    }
    return own
  }

  /** The roles that a role inherits from in any domain. */
  function inheritedElsewhere({ roleKey }: Question): ReadonlySet<number> {
    const lists = domains?.lineagesOf(numberOf(roles, roleKey)) ?? []
    return new Set(lists.flatMap((list) => [...ancestors.subarray(starts[list], starts[list + 1])]))
  }

  /** The first rules of these roles that would allow the call in another domain. */
  function elsewhere(
    { path, method }: Question,
    {
      here,
      own,
      at,
    }: {
      readonly here: ReadonlySet<number>
      readonly own: ReadonlySet<number>
      readonly at: number
    },
  ): readonly NearMiss[] {
    if (domains === undefined) return []
    const methodKinds = kindsFor(method, 'allow')
    return table
      .positionsFor(new Set([...domains.matchAnywhere(path)].filter((each) => !here.has(each))))
      .filter((position) => ((kinds[position] as number) & methodKinds) !== 0)
      .filter((position) => isActive(expiry?.rules, position, at))
      .map(ruleAt)
      .filter((rule) => rule.effect === 'allow' && own.has(numberOf(roles, rule.roleKey)))
      .slice(0, mostElsewhere)
      .map((rule) => ({ differs: 'domain', rule }))
  }

  return (question, most) => {
    const { domain = '', method, path } = question
    const found: number[] = []
    const count = domains?.match(domain, path, found) ?? trie.match(path, found)
    const here = new Set(found.slice(0, count))
    const at = now()
    const own = ownRoles(question, at)
    const methodKinds = kindsFor(method, 'allow')
    const misses: NearMiss[] = []
    // The most likely reasons, so they come first.
    const likely: NearMiss[] = []
    const elsewhereInherited = inheritedElsewhere(question)
    for (const position of table.positionsFor(here)) {
      if (expiry === undefined && misses.length === most) break
      const rule = ruleAt(position)
      if (rule.effect !== 'allow') continue
      const holder = numberOf(roles, rule.roleKey)
      const isOwn = own.has(holder)
      const sameMethod = ((kinds[position] as number) & methodKinds) !== 0
      if (!isActive(expiry?.rules, position, at)) {
        if (isOwn && sameMethod) likely.push({ differs: 'expired', rule })
      } else if (sameMethod && !isOwn && elsewhereInherited.has(holder)) {
        likely.push({ differs: 'inheritance', rule })
      } else if (isOwn !== sameMethod) misses.push({ differs: isOwn ? 'method' : 'role', rule })
    }
    return [...likely, ...elsewhere(question, { here, own, at }), ...misses].slice(0, most)
  }
}
