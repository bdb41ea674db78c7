import { type ExpressionBuilder, expressionBuilder, sql } from 'kysely'
import type { LockoutRecords, StoredLockout } from '../../login/lockouts/lockout.ts'
import { type AuditEntry, appendAudit } from '../audit/audit.ts'
import { type Database, inTransaction, requireTables, withFaults } from '../database/database.ts'
import { listOf, nowMs } from '../database/dialect.ts'
import { insertRows } from '../database/insert-rows.ts'
import type { Schema } from '../database/tables.ts'

const maxRecords = 10_000
/** How long a gateway that is busy or restarts may take to see what it has to forget. */
const noticeMs = 60_000

/** The keys of lock-outs to end, and of other counts to forget with them. */
export interface ClearedKeys {
  readonly keys: readonly string[]
  readonly related: readonly string[]
}

/**
 * Records of lock-outs that gateways count in memory, for gateways without Redis. Each process has rows
 * of its own: one that begins a lock-out anew must not hide from another that an operator ended it.
 */
export function createDatabaseLockouts({ db, shapes }: Database) {
  const lockouts = db.selectFrom('postern_login_lockout')

  async function prepared<Result>(work: () => Promise<Result>): Promise<Result> {
    return withFaults(async () => {
      requireTables(await shapes(), 'postern_login_lockout')
      return work()
    })
  }

  /** What a gateway process does with its own rows. */
  function recordsOf(owner: string): LockoutRecords {
    const isCleared = ({ eb, and }: OfLockouts) =>
      and([eb('owner', '=', owner), eb('cleared_ms', 'is not', null)])
    return {
      add: (records) =>
        prepared(async () => {
          const rows = records.map(({ key, kind, sealed, leftMs }) => {
            return { name: key, owner, kind, sealed, left: leftMs }
          })
          const { eb, ref } = expressionBuilder<{ incoming: { left: string } }, 'incoming'>()
          await insertRows(db, 'postern_login_lockout', rows, {
            using: { left: 'bigint' },
            computed: {
              since_ms: nowMs,
              until_ms: eb(nowMs, '+', ref('left')),
              cleared_ms: sql.lit(null),
            },
            ifThere: ['sealed', 'since_ms', 'until_ms', 'cleared_ms'],
          })
          await dropSurplus()
        }),
      takeCleared: (forget) =>
        prepared(async () => {
          const rows = await lockouts.select('name').where(isCleared).orderBy('name').execute()
          if (rows.length === 0) return
          for (const { name } of rows) forget(name)
          const names = listOf(rows.map(({ name }) => name))
          const own = db.deleteFrom('postern_login_lockout').where(isCleared)
          await own.where('name', 'in', names).execute()
        }),
      leave: () =>
        prepared(async () => {
          await db.deleteFrom('postern_login_lockout').where('owner', '=', owner).execute()
        }),
    }
  }

  /** Skips locked rows: two gateways that tidy up at once must not wait for each other. */
  async function dropSurplus(): Promise<void> {
    const last = lockouts.select('until_ms').orderBy('until_ms', 'desc').limit(1)
    const surplus = lockouts
      .select(['name', 'owner'])
      .where(({ eb, or }) =>
        or([eb('until_ms', '<=', nowMs), eb('until_ms', '<', last.offset(maxRecords - 1))]),
      )
      .forUpdate()
      .skipLocked()
    const keys = db.selectFrom(surplus.as('surplus')).select(['name', 'owner'])
    await db
      .deleteFrom('postern_login_lockout')
      .where(({ eb, refTuple }) =>
        eb(refTuple('name', 'owner'), 'in', keys.$asTuple('name', 'owner')),
      )
      .execute()
  }

  return {
    recordsOf,
    /** Every open lock-out; of those of several processes under one key, the one that ends last. */
    list: (): Promise<readonly StoredLockout[]> =>
      prepared(async () => {
        const place = db.fn.agg<number>('row_number').over((rows) => {
          const table = 'postern_login_lockout'
          return rows.partitionBy(`${table}.name`).orderBy(`${table}.until_ms`, 'desc')
        })
        const ranked = lockouts.selectAll().select(place.as('place')).where(isOpen)
        const first = db.selectFrom(ranked.as('ranked')).selectAll().where('place', '=', 1)
        const rows = await first.orderBy('name').limit(maxRecords).execute()
        return rows.map(({ name: key, kind, sealed, since_ms, until_ms }) => {
          return { key, kind, sealed, sinceMs: Number(since_ms), untilMs: Number(until_ms) }
        })
      }),
    /** The rest of the lock-out under a key that ends last, in seconds; 0 without one. */
    secondsLeft: (key: string): Promise<number> =>
      prepared(async () => {
        const last = lockouts.select(({ fn }) => [fn.max('until_ms').as('until'), nowMs.as('now')])
        const open = last.where('name', '=', key).where(isOpen)
        const { until, now } = await open.executeTakeFirstOrThrow()
        return until === null ? 0 : Math.ceil((Number(until) - Number(now)) / 1000)
      }),
    /**
     * Marks the lock-outs under these keys as ended, which their gateways see within seconds and then
     * also forget what they counted under `related`. Returns those that were open. Appends `entry` to
     * the audit log if one was.
     */
    clear: ({ keys, related }: ClearedKeys, entry: AuditEntry): Promise<readonly string[]> =>
      prepared(() =>
        inTransaction({ db, shapes }, async (inside, shape) => {
          const named = ['name', 'in', listOf(keys)] as const
          const open = inside
            .selectFrom('postern_login_lockout')
            .where(isOpen)
            .where(...named)
          const sorted = open.select(['name', 'owner']).orderBy('name').orderBy('owner')
          const rows = await sorted.forUpdate().execute()
          if (rows.length === 0) return []
          const ended = inside.updateTable('postern_login_lockout').set({ cleared_ms: nowMs })
          await ended
            .where(isOpen)
            .where(...named)
            .execute()
          const owners = [...new Set(rows.map(({ owner }) => owner))]
          const cleared = owners.flatMap((owner) =>
            related.map((name) => ({ name, owner, kind: '', sealed: '' })),
          )
          await insertRows(inside, 'postern_login_lockout', cleared, {
            computed: {
              since_ms: nowMs,
              until_ms: expressionBuilder()(nowMs, '+', String(noticeMs)),
              cleared_ms: nowMs,
            },
            ifThere: ['cleared_ms'],
          })
          await appendAudit(inside, shape, [entry])
          return [...new Set(rows.map(({ name }) => name))]
        }),
      ),
  }
}

type OfLockouts = ExpressionBuilder<Schema, 'postern_login_lockout'>

/** Lock-outs that neither time nor an operator ended. */
function isOpen({ eb, and }: OfLockouts) {
  return and([eb('until_ms', '>', nowMs), eb('cleared_ms', 'is', null)])
}
