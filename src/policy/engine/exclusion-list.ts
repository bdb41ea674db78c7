import type { Exclusion } from '../rule/rule.ts'
import { type Clock, isExpired } from '../rule/until.ts'
import type { Decision, Question } from './decision.ts'
import { createPathTrieBuilder } from './tables/path-trie.ts'

/** Finds the exclusion that covers a call by path AND method, as the decision it amounts to. */
export function createExclusionList(
  exclusions: readonly Exclusion[],
  revision: string,
  now: Clock,
): (question: Question) => Decision | undefined {
  const builder = createPathTrieBuilder()
  const decisions = new Map<number, Map<string, Excluding>>()
  /** What decides when an entry that expires has expired. */
  const next = new Map<Excluding, Excluding>()
  for (const exclusion of exclusions) {
    const node = builder.add(exclusion.path)
    const byMethod = decisions.get(node) ?? new Map<string, Excluding>()
    const decision = Object.freeze({
      allowed: true,
      step: 'exclusion',
      exclusion,
      revision,
    } as const)
    let last = byMethod.get(exclusion.method)
    if (last === undefined) byMethod.set(exclusion.method, decision)
    else {
      for (let after = next.get(last); after !== undefined; after = next.get(last)) last = after
      if (last.exclusion.until !== undefined) next.set(last, decision)
    }
    decisions.set(node, byMethod)
  }

  const trie = builder.finish()
  const found: number[] = []
  return ({ method, path }) => {
    const count = trie.match(path, found)
    for (let index = 0; index < count; index++) {
      let decision = decisions.get(found[index] ?? 0)?.get(method)
      while (decision?.exclusion.until !== undefined && isExpired(decision.exclusion, now())) {
        decision = next.get(decision)
      }
      if (decision !== undefined) return decision
    }
    return undefined
  }
}

type Excluding = Decision & { readonly exclusion: Exclusion }
