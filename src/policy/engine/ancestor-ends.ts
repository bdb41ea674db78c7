import type { Inheritance } from '../rule/rule.ts'
import { endOf } from '../rule/until.ts'
import { rowsPerStep, type Steps } from '../steps.ts'

/**
 * For each role that inherits, when it stops to inherit from each of its ancestors: a way up ends
 * with its first link, and the way that lasts longest counts.
 */
export function* ancestorEnds(
  inheritances: readonly Inheritance[],
): Steps<ReadonlyMap<string, ReadonlyMap<string, number>>> {
  const linksOf = Map.groupBy(inheritances, ({ roleKey }) => roleKey)
  const ends = new Map<string, ReadonlyMap<string, number>>()
  let followed = 0
  for (const roleKey of linksOf.keys()) {
    const found = new Map([[roleKey, Number.POSITIVE_INFINITY]])
    const queue = new Set([roleKey])
    // The loop also visits the elements that it adds. First in, first out: a role comes back at most
    // once for each level above it.
    for (const each of queue) {
      queue.delete(each)
      const end = found.get(each) ?? 0
      for (const link of linksOf.get(each) ?? []) {
        if (++followed % rowsPerStep === 0) yield
        const through = Math.min(end, endOf(link))
        if (through <= (found.get(link.parentKey) ?? Number.NEGATIVE_INFINITY)) continue
        found.set(link.parentKey, through)
        queue.add(link.parentKey)
      }
    }
    found.delete(roleKey)
    ends.set(roleKey, found)
  }
  return ends
}
