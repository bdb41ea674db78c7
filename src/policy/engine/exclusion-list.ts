import type { Exclusion } from '../rule/rule.ts'
import type { Decision, Question } from './decision.ts'
import { createPathTrieBuilder } from './path-trie.ts'

/** Finds the exclusion that covers a call by path AND method, as the decision it amounts to. */
export function createExclusionList(
  exclusions: readonly Exclusion[],
  revision: string,
): (question: Question) => Decision | undefined {
  const builder = createPathTrieBuilder()
  const decisions = new Map<number, Map<string, Decision>>()
  for (const exclusion of exclusions) {
    const node = builder.add(exclusion.path)
    const byMethod = decisions.get(node) ?? new Map<string, Decision>()
    if (!byMethod.has(exclusion.method)) {
      byMethod.set(
        exclusion.method,
        Object.freeze({ allowed: true, step: 'exclusion', exclusion, revision }),
      )
    }
    decisions.set(node, byMethod)
  }

  const trie = builder.finish()
  const found: number[] = []
  return ({ method, path }) => {
    const count = trie.match(path, found)
    for (let index = 0; index < count; index++) {
      const decision = decisions.get(found[index] ?? 0)?.get(method)
      if (decision !== undefined) return decision
    }
    return undefined
  }
}
