import { Fault } from '../../errors.ts'
import {
  type PolicySettings,
  policySettings,
  withPolicyStore,
} from '../../operations/policy-settings.ts'
import { readRecordedMoves } from '../../operations/publish/recorded-moves.ts'
import { type HistoryEntry, historyEntry } from '../../stores/policies/moves/history-entry.ts'
import { mergeMoves } from '../../stores/policies/moves/merge-moves.ts'
import type { Move } from '../../stores/policies/policy-store.ts'
import type { Run } from '../command.ts'
import { exitCodes } from '../exit-codes.ts'
import { formatTable, json, jsonLine, printable } from '../format.ts'
import type { Io } from '../io.ts'
import { formatPromotion } from './shadow-in-words.ts'
import type { historySpec } from './specs.ts'

/** Shows the moves of the head that Redis and the database have. */
export const policyHistory: Run<typeof historySpec> = async ({ options }, io) => {
  const { limit: most, output } = options
  const settings = policySettings(options.config, io)
  const trust = settings.trust()
  const inRedis = await movesInRedis(settings, most)
  const recorded = await readRecordedMoves(settings, most, io.cwd)
  if (inRedis instanceof Fault && recorded.moves.length === 0) throw inRedis

  const published = inRedis instanceof Fault ? [] : inRedis
  const { moves, differing } = mergeMoves(published, recorded.moves, most)
  const entries = moves.map((move) => historyEntry(move, trust))
  if (output === 'json') io.out(json(entries))
  else if (output === 'jsonl') for (const entry of entries) io.out(jsonLine(entry))
  else print(entries, io)

  const note = (text: string) => io.err(printable(`note: ${text}`).concat('\n'))
  if (differing > 0) {
    const what =
      differing === 1 ? '1 entry of Redis differs' : `${differing} entries of Redis differ`
    note(`${what}; shown as the database has ${differing === 1 ? 'it' : 'them'}`)
  }
  if (recorded.problem !== undefined) {
    note(`the database could not be asked, so older entries may be missing: ${recorded.problem}`)
  }
  if (!(inRedis instanceof Fault)) return exitCodes.done
  note(`only the database was asked, so newer entries may be missing: ${inRedis.message}`)
  return exitCodes.unavailable
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

function print(entries: readonly HistoryEntry[], io: Io): void {
  if (entries.length === 0) io.err('nothing is published yet\n')
  const rows = entries.map((entry) => {
    const { at, revision, kind, author, signers, publisher, message, evidence } = entry
    const who = signers.length === 0 ? `${author} (unverified)` : `${signers.join(', ')} (signed)`
    const by = publisher === undefined ? '' : `, published by ${publisher}`
    return [at, revision, kind, who + by, message + formatPromotion(evidence)]
  })
  const titles = ['AT', 'REVISION', 'KIND', 'AUTHOR', 'WHY']
  if (rows.length > 0) io.out(formatTable([titles, ...rows]))
}
