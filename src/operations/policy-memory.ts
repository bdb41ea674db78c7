import { createHash } from 'node:crypto'
import { createLru } from '../kernel/lru.ts'
import type { CompiledSet } from '../policy/engine/compile.ts'
import type { PolicyFile, PolicySet } from '../policy/set/policy-set.ts'

/** The live policy, two to compare it with, and a draft; 10,000 rules take about 10 MB. */
const mostPolicies = 4

/** A compiled policy decides the same until one of its lines expires. */
interface Compiled {
  readonly from: number
  readonly to: number
  readonly compiled: CompiledSet
}

/** Now, and one other time that a page asks about. */
const mostTimes = 2

/** For each policy. A matrix of 200 roles and 2,000 operations has a megabyte. */
const mostAnswers = 4
const longestAnswer = 8 * 1024 * 1024

/**
 * Remembers policies by the content of their files: a policy that changed, in a directory or in Redis,
 * is another one.
 */
export function createPolicyMemory() {
  const sets = createLru<PolicySet>(mostPolicies)
  const byTime = new WeakMap<PolicySet, readonly Compiled[]>()
  const answers = new WeakMap<PolicySet, ReadonlyMap<string, unknown>>()
  return {
    /** The policy of exactly these files. */
    parsed(files: readonly PolicyFile[], parse: () => PolicySet): PolicySet {
      const name = fingerprint(files)
      const known = sets.get(name)
      if (known !== undefined) return known
      const set = parse()
      sets.set(name, set)
      return set
    },
    /** The policy, compiled for this time. */
    compiled(set: PolicySet, at: number, compile: () => CompiledSet): CompiledSet {
      const known = byTime.get(set) ?? []
      const found = known.find(({ from, to }) => from <= at && at < to)
      if (found !== undefined) return found.compiled
      const compiled = compile()
      const from = compiled.ends.findLast((end) => end <= at) ?? Number.NEGATIVE_INFINITY
      const to = compiled.ends.find((end) => at < end) ?? Number.POSITIVE_INFINITY
      byTime.set(set, [{ from, to, compiled }, ...known].slice(0, mostTimes))
      return compiled
    },
    /** A long answer about this policy. `about` has all else that it depends on, and `sizeOf` its memory. */
    answered<Answer>(
      set: PolicySet,
      about: object,
      answer: () => Answer,
      sizeOf: (answer: Answer) => number,
    ): Answer {
      const question = createHash('sha256').update(JSON.stringify(about)).digest('base64')
      const known = answers.get(set) ?? new Map<string, unknown>()
      const found = known.get(question)
      if (found !== undefined) return found as Answer
      const made = answer()
      const kept = [...known, [question, made] as const].slice(-mostAnswers)
      if (sizeOf(made) <= longestAnswer) answers.set(set, new Map(kept))
      return made
    },
  }
}

function fingerprint(files: readonly PolicyFile[]): string {
  const hash = createHash('sha256')
  for (const { name, text } of files) {
    // With the lengths, no text can pass for a name.
    hash.update(`${name.length} ${text.length} ${name}${text}`)
  }
  return hash.digest('base64')
}
