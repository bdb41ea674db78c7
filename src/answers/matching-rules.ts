import { treeOf, visitCovering } from '../policy/review/pattern-tree.ts'
import { methodsOf } from '../policy/rule/methods.ts'
import { ANY_METHOD, type Rule } from '../policy/rule/rule.ts'
import type { PolicySet } from '../policy/set/policy-set.ts'

/** The rules of any role and method whose pattern matches a path, in the order of the files. */
type MatchingRules = (path: string) => readonly Rule[]

/** Only for models of the index grammar: under others, only the matcher knows what a path matches. */
export function createMatchingRules({ rules }: PolicySet): MatchingRules {
  const numbered = rules.map((rule, at) => ({ rule, at }))
  const root = treeOf(numbered, ({ rule }) => rule.path)
  return (path) => {
    const found: (typeof numbered)[number][] = []
    // Not `shapeOf`: in a path, `:` and `*` are ordinary characters.
    const segments = path.split('/').slice(1)
    visitCovering(root, { segments, tail: 'end', prefix: '' }, (matching) => {
      found.push(...matching)
    })
    return found.toSorted((a, b) => a.at - b.at).map(({ rule }) => rule)
  }
}

/** Whether a rule is for a method. */
export function hasMethod(rule: Pick<Rule, 'method'>, method: string): boolean {
  return methodsOf(rule.method).some((each) => each === method || each === ANY_METHOD)
}
