import type { Move } from '../document/policy-keys.ts'

/** What people read. A copy that another version made may lack a field that it did not know. */
const saidFields = ['revision', 'sequence', 'author', 'message', 'at', 'kind'] as const

/**
 * The history that Redis and the database have together. Where they differ, the database counts: it
 * keeps what it saw first, while everyone who can write to Redis can rewrite the list there. The newest
 * come first; `differing` is how many differ between the two.
 */
export function mergeMoves(inRedis: readonly Move[], inDatabase: readonly Move[], most: number) {
  const merged = new Map(inDatabase.map((move) => [moveKey(move), move]))
  const sequences = new Set(inDatabase.map(({ sequence }) => sequence))
  let differing = 0
  for (const move of inRedis) {
    const known = merged.get(moveKey(move))
    // Each move has a sequence of its own: with another id, it is still the same one, rewritten.
    if (known === undefined && !sequences.has(move.sequence)) merged.set(moveKey(move), move)
    else if (saidFields.some((name) => known?.[name] !== move[name])) differing++
  }
  const moves = [...merged.values()].sort((a, b) => b.sequence - a.sequence)
  return { moves: moves.slice(0, most), differing }
}

/** What tells one move from another. Version 0.1.0 gives moves no id. */
export function moveKey({ id, sequence, revision }: Move): string {
  // Redis may contain anything, and this is the key of a table.
  return id !== undefined && /^[\w-]{1,64}$/.test(id) ? id : `${sequence}-${revision}`
}
