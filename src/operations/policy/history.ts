import { Fault } from '../../kernel/errors.ts'
import { historyEntry } from '../../stores/policies/moves/history-entry.ts'
import { mergeMoves } from '../../stores/policies/moves/merge-moves.ts'
import type { Move } from '../../stores/policies/policy-store.ts'
import type { RunOf } from '../operation.ts'
import { type PolicySettings, policySettings, withPolicyStore } from '../policy-settings.ts'
import type { policyHistory } from './descriptions.ts'
import { readRecordedMoves } from './recorded-moves.ts'

/** Lists the moves of the head that Redis and the database have. */
export const run: RunOf<typeof policyHistory> = async ({ limit }, context) => {
  const settings = policySettings(context.configFile, context)
  const trust = settings.trust()
  const inRedis = await movesInRedis(settings, limit)
  const recorded = await readRecordedMoves(settings, limit, context.cwd)
  const isUnread = inRedis instanceof Fault
  if (isUnread && recorded.moves.length === 0) throw inRedis

  const { moves, differing } = mergeMoves(isUnread ? [] : inRedis, recorded.moves, limit)
  const what = differing === 1 ? '1 entry of Redis differs' : `${differing} entries of Redis differ`
  const notes = [
    differing > 0 && `${what}; shown as the database has ${differing === 1 ? 'it' : 'them'}`,
    recorded.problem !== undefined &&
      `the database could not be read, so older entries may be missing: ${recorded.problem}`,
    isUnread && `only the database was read, so newer entries may be missing: ${inRedis.message}`,
  ]
  return {
    document: moves.map((move) => historyEntry(move, trust)),
    notes: notes.filter((note) => note !== false),
    outcome: isUnread ? 'unavailable' : 'done',
  }
}

async function movesInRedis(
  settings: PolicySettings,
  most: number,
): Promise<readonly Move[] | Fault> {
  try {
    return await withPolicyStore(settings, (store) => store.history(most))
  } catch (error) {
    if (error instanceof Fault) return error
    throw error
  }
}
