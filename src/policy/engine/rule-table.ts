import { methodsOf } from '../rule/methods.ts'
import { ANY_METHOD, type Effect, METHODS, type Rule } from '../rule/rule.ts'

const kindNames: readonly string[] = [ANY_METHOD, ...METHODS]
/** A bit for the rules that allow a method; the next higher one is for those that deny it. */
const bitOfMethod: ReadonlyMap<string, number> = new Map(
  kindNames.map((method, index) => [method, 4 ** index]),
)
const denyKinds = [...bitOfMethod.values()].reduce((kinds, bit) => kinds | (bit << 1), 0)
const anyMethod = bitOfMethod.get(ANY_METHOD) ?? 0

/** The bits of the rules with this effect that apply to a request with this method. */
export function kindsFor(method: string, effect: Effect): number {
  return kindOf(method, effect) | (effect === 'deny' ? anyMethod << 1 : anyMethod)
}

/** The bit of rules with this method and effect; 0 for methods that no rule can name. */
function kindOf(method: string, effect: Effect): number {
  return (bitOfMethod.get(method) ?? 0) << (effect === 'deny' ? 1 : 0)
}

/** The bits of a rule: one, unless its method is a regular expression. */
function kindsOf({ method, effect }: Rule): number {
  if (bitOfMethod.has(method)) return kindOf(method, effect)
  return methodsOf(method).reduce((kinds, each) => kinds | kindOf(each, effect), 0)
}

const width = 4
const roleAt = 0
const patternAt = 1
const kindsAt = 2
const firstAt = 3

/** A rule table in flat memory. */
export interface RuleEntries {
  /** A hash table: role, pattern, kinds, and the last of their rules, counted from one. */
  readonly entries: Int32Array
  /** The kinds of each rule. */
  readonly kinds: Int32Array
  /** For each rule another one of its role and pattern, counted from one, or 0. */
  readonly next: Int32Array
}

/**
 * Fills a hash table from role and pattern to a chain of rules. An entry has a bit for each kind of
 * rule in its chain, so that a look-up for other kinds touches no rule. Call `place` once for each
 * rule.
 */
export function createRuleTableBuilder(rules: readonly Rule[]) {
  const entries = new Int32Array((Math.ceil(rules.length * 1.5) + 1) * width)
  const kinds = new Int32Array(rules.length)
  const next = new Int32Array(rules.length)

  return {
    place(position: number, role: number, pattern: number): void {
      const entry = entryOf(entries, role, pattern)
      const kind = kindsOf(rules[position] as Rule)
      entries[entry + roleAt] = role
      entries[entry + patternAt] = pattern
      entries[entry + kindsAt] = (entries[entry + kindsAt] ?? 0) | kind
      next[position] = entries[entry + firstAt] ?? 0
      entries[entry + firstAt] = position + 1
      kinds[position] = kind
    },
    entries: { entries, kinds, next },
  }
}

/** Where the entry of a role and a pattern is, or could be. Positions are stored plus one. */
function entryOf(entries: Int32Array, role: number, pattern: number): number {
  const mixed = Math.imul(Math.imul(role, 0x9e3779b1) ^ pattern, 0x85ebca6b)
  const spread = (mixed ^ (mixed >>> 15)) >>> 0
  const capacity = entries.length / width
  let entry = Math.floor((spread * capacity) / 2 ** 32) * width
  for (;;) {
    if (entries[entry + firstAt] === 0) return entry
    if (entries[entry + roleAt] === role && entries[entry + patternAt] === pattern) return entry
    entry += width
    if (entry === entries.length) entry = 0
  }
}

/**
 * Finds rules by the numbers of their role and their path pattern, and by their kind. Looks rules
 * up in these entries. `ends`: when each of them ends, if any does.
 */
export function createRuleTable(
  { entries, kinds, next }: RuleEntries,
  ends: Float64Array = new Float64Array(0),
) {
  return {
    /** The position in the list of a rule of one of these kinds; -1 without any. */
    find(role: number, pattern: number, wanted: number) {
      const entry = entryOf(entries, role, pattern)
      const present = entries[entry + kindsAt] as number
      if ((present & wanted) === 0) return -1
      let position = (entries[entry + firstAt] as number) - 1
      // Every rule of the chain matches: saves a visit to memory that is mostly cold.
      if ((present & ~wanted) === 0) return position
      while (((kinds[position] as number) & wanted) === 0) {
        position = (next[position] as number) - 1
      }
      return position
    },

    /** Finds a rule among those that have not expired by this time. */
    findActive(role: number, pattern: number, wanted: number, at: number) {
      const entry = entryOf(entries, role, pattern)
      if (((entries[entry + kindsAt] as number) & wanted) === 0) return -1
      let position = (entries[entry + firstAt] as number) - 1
      while (
        position !== -1 &&
        (((kinds[position] as number) & wanted) === 0 || (ends[position] as number) <= at)
      ) {
        position = (next[position] as number) - 1
      }
      return position
    },

    /** The positions of all rules for one of these patterns, in the order of the list. */
    positionsFor(patterns: ReadonlySet<number>): readonly number[] {
      const positions: number[] = []
      for (let entry = 0; entry < entries.length; entry += width) {
        if (!patterns.has(entries[entry + patternAt] as number)) continue
        let position = (entries[entry + firstAt] as number) - 1
        for (; position !== -1; position = (next[position] as number) - 1) {
          positions.push(position)
        }
      }
      return positions.sort((a, b) => a - b)
    },
  }
}

/** Whether rules of these kinds deny. */
export function isDenyKind(kinds: number): boolean {
  return (kinds & denyKinds) !== 0
}

/** The method and the effect of rules of this kind; one of the methods if it has several. */
export function readKind(kind: number): { readonly method: string; readonly effect: Effect } {
  const at = 31 - Math.clz32(kind)
  return { method: kindNames[at >> 1] ?? '', effect: at % 2 === 0 ? 'allow' : 'deny' }
}
