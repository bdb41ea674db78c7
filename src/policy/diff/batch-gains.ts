import { firstMethod, type MethodBits, methodBits } from '../review/grants.ts'
import { shapeOf } from '../review/pattern-tree.ts'
import type { Rule } from '../rule/rule.ts'
import type { Batch } from './batches.ts'
import type { Comparison } from './changed-lines.ts'
import { allowedAt, findGain, type Gain, type Side } from './gain.ts'
import type { RelevantRules } from './relevant-rules.ts'

/** What the roles of a batch gain by one of its rules. */
export type RuleGain = ReturnType<typeof gainsOf>[number]

type RelevantComparison = Comparison & { readonly relevant: RelevantRules }

/**
 * Evaluates a batch for its lead, and for another role only the rules that share a path with a rule
 * which that role has and the lead has not: for all others it gains what the lead gains.
 */
export function gainsOf(batch: Batch, comparison: RelevantComparison) {
  const { from, to, relevant } = comparison
  const find = (rule: Rule, sides: Sides) =>
    findGain(shapeOf(rule.path), methodBits(rule.method), { ...sides, budget: comparison.budget })
  const leadSides = sidesOf(batch.lead, comparison)
  const usual = batch.rules.map((rule) => find(rule, leadSides))
  const others = batch.rules.map(() => new Map<string, Gain | undefined>())

  const indexesOf = Map.groupBy(batch.rules.keys(), (at) => batch.rules[at]?.path ?? '')
  const leadLineages = [from, to].map(({ grants }) => new Set(grants.lineage(batch.lead)))
  for (const roleKey of batch.roles) {
    if (roleKey === batch.lead) continue
    const touched = new Set<string>()
    for (const [at, { grants }] of [from, to].entries()) {
      for (const each of grants.lineage(roleKey)) {
        if (leadLineages[at]?.has(each)) continue
        for (const path of relevant.touchedBy(each)) if (indexesOf.has(path)) touched.add(path)
      }
    }
    if (touched.size === 0) continue
    const sides = sidesOf(roleKey, comparison)
    for (const at of [...touched].flatMap((path) => indexesOf.get(path) ?? [])) {
      const rule = batch.rules[at]
      if (rule === undefined) continue
      const gain = find(rule, sides)
      if (!isSame(usual[at], gain, sides)) others[at]?.set(roleKey, gain)
    }
  }
  return batch.rules.map((rule, at) => ({
    rule,
    usual: usual[at],
    others: others[at] ?? new Map(),
  }))
}

interface Sides {
  readonly from: Side
  readonly to: Side
}

function sidesOf(roleKey: string, { from, to, relevant }: RelevantComparison): Sides {
  return {
    from: [...relevant.treesOf(from, from.grants.lineage(roleKey)), from.grants.excluded],
    to: relevant.treesOf(to, to.grants.lineage(roleKey)),
  }
}

/** Whether the gain of another role is also that of a role with these sides, example included. */
function isSame(usual: Gain | undefined, gain: Gain | undefined, { from, to }: Sides): boolean {
  if (usual === undefined || gain === undefined) return usual === gain
  if (usual.methods !== gain.methods || usual.certain !== gain.certain) return false
  const { example } = usual
  if (example === undefined) return gain.example === undefined
  const shown: MethodBits = methodBits(firstMethod(example.methods))
  return (allowedAt(to, example.path) & ~allowedAt(from, example.path) & shown) !== 0
}
