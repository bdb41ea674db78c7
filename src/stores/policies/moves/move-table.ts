import { type Kysely, sql } from 'kysely'
import { Fault } from '../../../errors.ts'
import type { Trust } from '../../../signing/trust.ts'
import { appendAudit } from '../../audit/audit.ts'
import type { Database } from '../../database/database.ts'
import { withFaults } from '../../database/database-fault.ts'
import { listOf, lockUntilCommit, orKeep, tableOf } from '../../database/dialect.ts'
import { inTransaction } from '../../database/repeated.ts'
import type { Schema } from '../../database/schema.ts'
import { tableExists } from '../../database/table-shapes.ts'
import { type Move, maxMove, parseMove } from '../document/policy-keys.ts'
import { moveEntries, type RecordedMove } from './move-audit.ts'
import { moveKey } from './move-key.ts'

/** The history of one Redis prefix in the database. Every method throws a Fault when that fails. */
export interface MoveTable {
  has(move: Move): Promise<boolean>
  /** To be called after `has`. Keeps the moves that it has already as they are. */
  add(moves: readonly Move[]): Promise<void>
  /** The last moves, newest first; empty when the table does not exist. */
  list(most: number): Promise<readonly Move[]>
}

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
): MoveTable {
  return {
    has: (move) =>
      withFaults(async () => {
        await shapes()
        const { rows } = await sql`
          select 1 from postern_policy_move
          where prefix = ${prefix} and move_id = ${moveKey(move)}`.execute(db)
        return rows.length > 0
      }),
    add: (moves) =>
      withFaults(async () => {
        const { rows } = await sql<{ count: string }>`
          select count(*)::text as "count" from postern_policy_move
          where prefix = ${prefix}`.execute(db)
        if (Number(rows[0]?.count) >= maxMoves) throw full(maxMoves)
        // As a text within JSON: PostgreSQL cannot hold a NUL character, which a message may contain.
        const added = moves
          .map((move) => ({
            id: moveKey(move),
            sequence: move.sequence,
            move: JSON.stringify(move),
          }))
          .filter(({ move }) => move.length <= maxMove)
        const shape = await shapes()
        await inTransaction(db, async (inside) => {
          await lockUntilCommit('postern_policy_move', ` ${prefix}`).execute(inside)
          const { rows: present } = await sql<{ id: string }>`
            select move_id as "id" from postern_policy_move
            where prefix = ${prefix} and move_id in ${listOf(added.map(({ id }) => id))}`.execute(
            inside,
          )
          const known = new Set(present.map(({ id }) => id))
          const inserted = added.filter(({ id }) => !known.has(id))
          await sql`
            insert into postern_policy_move (prefix, move_id, sequence, move)
            select ${prefix}, id, sequence, move from ${tableOf('incoming', columns, inserted)}
            ${orKeep('postern_policy_move', 'prefix', 'move_id')}`.execute(inside)
          // The history is older than the audit log, and goes on where that is missing.
          if (inserted.length === 0 || !shape.optional.has('postern_audit')) return
          const recorded = await withPrevious(inside, prefix, inserted)
          await appendAudit(inside, shape, moveEntries(moves, recorded, trust))
        })
      }),
    list: (most) =>
      withFaults(async () => {
        if (!(await tableExists(db, 'postern_policy_move'))) return []
        const { rows } = await sql<{ move: string }>`
          select move from postern_policy_move where prefix = ${prefix}
          order by sequence desc, recorded_at desc limit ${Math.min(most, maxMoves)}::int`.execute(
          db,
        )
        return rows.flatMap(({ move }) => parseMove(move) ?? [])
      }),
  }
}

/** Moves by id, oldest first, each with the revision that it replaced. */
async function withPrevious(
  inside: Kysely<Schema>,
  prefix: string,
  inserted: readonly { readonly id: string }[],
): Promise<readonly RecordedMove[]> {
  const { rows } = await sql<{ id: string; start: string | null }>`
    select move_id as "id", (
      select substring(earlier.move, 1, 200)
      from postern_policy_move as earlier
      where earlier.prefix = ${prefix} and earlier.sequence < made.sequence
      order by earlier.sequence desc limit 1) as "start"
    from postern_policy_move as made
    where prefix = ${prefix} and move_id in ${listOf(inserted.map(({ id }) => id))}
    order by sequence`.execute(inside)
  // By its text: a message may contain anything.
  const revision = (text: string | null) => /^\{"revision":"(r-[0-9a-f]+)"/.exec(text ?? '')?.[1]
  return rows.map(({ id, start }) => ({ id, previous: revision(start) ?? null }))
}

const columns = { id: 'text', sequence: 'bigint', move: 'text' } as const

function full(most: number): Fault {
  const reason = `postern_policy_move has ${most} moves: delete those that you no longer need`
  return new Fault('database', { reason })
}
