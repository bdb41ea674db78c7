import type { Tick } from '../steps.ts'
import type { FoundChange, Share } from './access-change.ts'
import { gainsOf, type RuleGain } from './batch-gains.ts'
import { type Batch, batchesOf } from './batches.ts'
import type { Comparison } from './changed-lines.ts'
import { relevantRules } from './relevant-rules.ts'
import { inOrder, sharesOfBatch, sharesOfRule } from './shares.ts'

/** The rules and `g` lines by which roles gain access. */
export function newAccess(comparison: Comparison, tick: Tick): readonly FoundChange[] {
  const batches = batchesOf(comparison.from, comparison.to)
  const rules = batches.flatMap((batch) => batch.rules)
  const relevant = relevantRules(rules, comparison)
  const changes: FoundChange[] = []
  const inherited: [Batch, readonly Share[]][] = []
  for (const [at, batch] of batches.entries()) {
    tick(at, batches.length)
    const gains = gainsOf(batch, { ...comparison, relevant })
    if (batch.inheritance === undefined) changes.push(...changesOfRules(batch, gains))
    else inherited.push([batch, sharesOfBatch(gains, batch)])
  }
  return [...changes, ...changesOfInheritances(inherited)]
}

function changesOfRules(batch: Batch, gains: readonly RuleGain[]): FoundChange[] {
  return gains.flatMap((gain): FoundChange[] => {
    const { roleKey, origin, until } = gain.rule
    const shares = inOrder(sharesOfRule(gain, batch), roleKey)
    if (shares.length === 0) return []
    return [{ cause: batch.cause, line: lineOf(batch), origin, until, roleKey, shares }]
  })
}

/** One change for each `g` line: it can bring different members to different roles. */
function changesOfInheritances(found: readonly [Batch, readonly Share[]][]): FoundChange[] {
  const byLine = Map.groupBy(found, ([batch]) => batch.inheritance)
  return [...byLine].flatMap(([inheritance, parts]): FoundChange[] => {
    const [first] = parts
    if (inheritance === undefined || first === undefined) return []
    const { roleKey, parentKey, origin, until } = inheritance
    const shares = inOrder(
      parts.flatMap(([, each]) => each),
      roleKey,
    )
    if (shares.length === 0) return []
    const line = lineOf(first[0])
    return [{ cause: 'inheritance', line, origin, until, roleKey, parentKey, shares }]
  })
}

/** A deny rule gives access by leaving the policy. */
function lineOf({ cause }: Batch): FoundChange['line'] {
  return cause === 'allow' ? 'added' : 'removed'
}
