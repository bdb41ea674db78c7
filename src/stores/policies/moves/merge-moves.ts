import type { Move } from '../document/policy-keys.ts'
import { moveKey } from './move-key.ts'

interface MergedMoves {
  /** Newest first. */
  readonly moves: readonly Move[]
  /** How many moves differ between the two. */
  readonly differing: number
}

/** What people read. A copy that another version made may lack a field that it did not know. */
const saidFields = ['revision', 'sequence', 'author', 'message', 'at', 'kind'] as const

/**
 * The history that Redis and the database have together. Where they differ, the database counts: it
 * keeps what it saw first, while everyone who can write to Redis can rewrite the list there.
 */
export function mergeMoves(
  inRedis: readonly Move[],
  inDatabase: readonly Move[],
  most: number,
): MergedMoves {
  const merged = new Map(inRedis.map((move) => [moveKey(move), move]))
  let differing = 0
  for (const move of inDatabase) {
    const other = merged.get(moveKey(move))
    if (other !== undefined && saidFields.some((name) => other[name] !== move[name])) differing++
    merged.set(moveKey(move), move)
  }
  const moves = [...merged.values()].sort((a, b) => b.sequence - a.sequence)
  return { moves: moves.slice(0, most), differing }
}
