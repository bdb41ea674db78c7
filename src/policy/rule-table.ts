import { ANY_METHOD, type Effect, METHODS, type Rule } from './rule.ts'

/** Finds rules by the numbers of their role, their path pattern, and their method and effect. */
export interface RuleTable {
  /** The position in the list of the rule for this kind, or for the other one; -1 without either. */
  readonly find: (role: number, pattern: number, kind: number, orKind: number) => number
  readonly patternOf: (position: number) => number
}

const methodNumbers: ReadonlyMap<string, number> = new Map(
  [ANY_METHOD, ...METHODS].map((method, index) => [method, index + 1]),
)

/** A method and an effect as one number. All methods that no rule can name share one. */
export function ruleKind(method: string, effect: Effect): number {
  return (methodNumbers.get(method) ?? 0) * 2 + (effect === 'deny' ? 1 : 0)
}

const width = 4
const roleAt = 0
const patternAt = 1
const kindAt = 2
const nextAt = 3

/**
 * A hash table from role and pattern to the rules for them, which are chained. `place` is called
 * once for each rule, `finish` when all are placed.
 */
export function createRuleTableBuilder(rules: readonly Rule[]) {
  const rows = new Int32Array(rules.length * width)
  const table = new Int32Array(2 ** Math.ceil(Math.log2(rules.length * 1.5 + 2)))
  const mask = table.length - 1

  /** Where the chain of a role and a pattern hangs, or could hang. Positions are stored plus one. */
  function slotOf(role: number, pattern: number): number {
    const mixed = Math.imul(Math.imul(role, 0x9e3779b1) ^ pattern, 0x85ebca6b)
    for (let slot = (mixed ^ (mixed >>> 15)) & mask; ; slot = (slot + 1) & mask) {
      const head = table[slot] ?? 0
      const row = (head - 1) * width
      if (head === 0) return slot
      if (rows[row + roleAt] === role && rows[row + patternAt] === pattern) return slot
    }
  }

  return {
    place(position: number, role: number, pattern: number): void {
      const { method, effect } = rules[position] as Rule
      const slot = slotOf(role, pattern)
      const row = position * width
      rows[row + roleAt] = role
      rows[row + patternAt] = pattern
      rows[row + kindAt] = ruleKind(method, effect)
      rows[row + nextAt] = table[slot] ?? 0
      table[slot] = position + 1
    },

    finish(): RuleTable {
      return {
        find(role, pattern, kind, orKind) {
          let position = (table[slotOf(role, pattern)] ?? 0) - 1
          while (position !== -1) {
            const row = position * width
            if (rows[row + kindAt] === kind || rows[row + kindAt] === orKind) break
            position = (rows[row + nextAt] ?? 0) - 1
          }
          return position
        },
        patternOf: (position) => rows[position * width + patternAt] ?? 0,
      }
    },
  }
}
