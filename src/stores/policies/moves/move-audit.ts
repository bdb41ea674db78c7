import type { Trust } from '../../../signing/trust.ts'
import type { AuditEntry } from '../../audit/audit.ts'
import type { AuditAction } from '../../audit/audit-action.ts'
import type { Move } from '../document/policy-keys.ts'
import { historyEntry } from './history-entry.ts'
import { moveKey } from './move-key.ts'

/** A move that is new in the table, and the revision that was live before it. */
export interface RecordedMove {
  readonly id: string
  readonly previous: string | null
}

/** What the audit log says of these moves. */
export function moveEntries(
  moves: readonly Move[],
  recorded: readonly RecordedMove[],
  trust: Trust | undefined,
): readonly AuditEntry[] {
  const byKey = new Map(moves.map((move) => [moveKey(move), move]))
  return recorded.flatMap(({ id, previous }) => {
    const move = byKey.get(id)
    return move === undefined ? [] : [moveEntry(move, previous, trust)]
  })
}

function moveEntry(move: Move, previous: string | null, trust: Trust | undefined): AuditEntry {
  const { revision, author, message, at, kind, origin, publisher } = move
  const { signers } = historyEntry(move, trust)
  // Everyone who can write to Redis can write any author there; only signatures prove one.
  const proof = signers.length === 0 ? { author: 'unverified' } : { signers }
  return {
    actor: { kind: 'operator', name: publisher ?? author, origin: origin ?? 'unknown' },
    action: actions.get(kind) ?? 'policy.push',
    subject: revision,
    ...(previous !== null && { before: { revision: previous } }),
    after: {
      revision,
      message,
      at,
      ...(publisher !== undefined && { proposedBy: author }),
      ...proof,
    },
  }
}

/** A `Map`, because Redis may contain any kind, also the name of a property of objects. */
const actions: ReadonlyMap<string, AuditAction> = new Map([
  ['push', 'policy.push'],
  ['rollback', 'policy.rollback'],
  ['promote', 'policy.promote'],
])
