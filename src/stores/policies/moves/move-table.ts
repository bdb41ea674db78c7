import { Fault } from '../../../kernel/errors.ts'
import type { Trust } from '../../../signing/trust.ts'
import { type AuditEntry, appendAudit } from '../../audit/audit.ts'
import type { AuditAction } from '../../audit/audit-action.ts'
import {
  type Database,
  type Db,
  inTransaction,
  tableExists,
  withFaults,
} from '../../database/database.ts'
import { listOf, lockUntilCommit } from '../../database/dialect.ts'
import { insertRows } from '../../database/insert-rows.ts'
import { type Move, maxMove, parseMove } from '../document/policy-keys.ts'
import { historyEntry } from './history-entry.ts'
import { moveKey } from './merge-moves.ts'

/** The history of one Redis prefix in the database. Every method throws a Fault when that fails. */
export type MoveTable = ReturnType<typeof createMoveTable>

/** Thirty pushes a day for ten years. An attacker who can write to Redis must not fill the disk. */
const defaultMaxMoves = 100_000

interface MoveTableOptions {
  readonly maxMoves?: number
  /** Whose signatures count, for the audit log. */
  readonly trust?: Trust | undefined
}

export function createMoveTable(
  { db, shapes }: Pick<Database, 'db' | 'shapes'>,
  prefix: string,
  { maxMoves = defaultMaxMoves, trust }: MoveTableOptions = {},
) {
  const recorded = db.selectFrom('postern_policy_move').where('prefix', '=', prefix)

  return {
    has: (move: Move) =>
      withFaults(async () => {
        await shapes()
        const row = recorded.select('move_id').where('move_id', '=', moveKey(move))
        return (await row.executeTakeFirst()) !== undefined
      }),
    /** To be called after `has`. Keeps the moves that it has already as they are. */
    add: (moves: readonly Move[]) =>
      withFaults(async () => {
        const counted = recorded.select(({ fn }) => fn.countAll<string>().as('many'))
        const { many } = await counted.executeTakeFirstOrThrow()
        if (Number(many) >= maxMoves) throw full(maxMoves)
        // As a text within JSON: PostgreSQL cannot hold a NUL character, which a message may contain.
        const added = moves
          .map((move) => ({
            prefix,
            move_id: moveKey(move),
            sequence: move.sequence,
            move: JSON.stringify(move),
          }))
          .filter(({ move }) => move.length <= maxMove)
        await inTransaction({ db, shapes }, async (inside, shape) => {
          await lockUntilCommit('postern_policy_move', ` ${prefix}`).execute(inside)
          const present = await inside
            .selectFrom('postern_policy_move')
            .select('move_id')
            .where('prefix', '=', prefix)
            .where('move_id', 'in', listOf(added.map(({ move_id: id }) => id)))
            .execute()
          const known = new Set(present.map(({ move_id: id }) => id))
          const inserted = added.filter(({ move_id: id }) => !known.has(id))
          if (inserted.length === 0) return
          await insertRows(inside, 'postern_policy_move', inserted, { ifThere: 'keep' })
          // The history is older than the audit log, and goes on where that is missing.
          if (!shape.optional.has('postern_audit')) return
          const ids = inserted.map(({ move_id: id }) => id)
          const made = await withPrevious(inside, prefix, ids)
          await appendAudit(inside, shape, moveEntries(moves, made, trust))
        })
      }),
    /** The last moves, newest first; empty when the table does not exist. */
    list: (most: number): Promise<readonly Move[]> =>
      withFaults(async () => {
        if (!(await tableExists(db, 'postern_policy_move'))) return []
        const sorted = recorded.orderBy('sequence', 'desc').orderBy('recorded_at', 'desc')
        const rows = await sorted.select('move').limit(Math.min(most, maxMoves)).execute()
        return rows.flatMap(({ move }) => parseMove(move) ?? [])
      }),
  }
}

/** Moves by id, oldest first, each with the revision that it replaced. */
async function withPrevious(
  inside: Db,
  prefix: string,
  ids: readonly string[],
): Promise<readonly RecordedMove[]> {
  const rows = await inside
    .selectFrom('postern_policy_move as made')
    .select('made.move_id as id')
    .select(({ selectFrom }) =>
      selectFrom('postern_policy_move as earlier')
        .select(({ fn, lit }) =>
          fn<string>('substring', ['earlier.move', lit(1), lit(200)]).as('start'),
        )
        .where('earlier.prefix', '=', prefix)
        .whereRef('earlier.sequence', '<', 'made.sequence')
        .orderBy('earlier.sequence', 'desc')
        .limit(1)
        .as('start'),
    )
    .where('made.prefix', '=', prefix)
    .where('made.move_id', 'in', listOf(ids))
    .orderBy('made.sequence')
    .execute()
  // By its text: a message may contain anything.
  const revision = (text: string | null) => /^\{"revision":"(r-[0-9a-f]+)"/.exec(text ?? '')?.[1]
  return rows.map(({ id, start }) => ({ id, previous: revision(start) ?? null }))
}

function full(most: number): Fault {
  const reason = `postern_policy_move has ${most} publications: delete those that you no longer need`
  return new Fault('database', { reason })
}

/** A move that is new in the table, and the revision that was live before it. */
interface RecordedMove {
  readonly id: string
  readonly previous: string | null
}

/** What the audit log says of these moves. */
function moveEntries(
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
