import { sql } from 'kysely'
import type { LockoutRecords, StoredLockout } from '../../login/lockouts/lockout.ts'
import { type AuditEntry, appendAudit } from '../audit/audit.ts'
import type { Database } from '../database/database.ts'
import { withFaults } from '../database/database-fault.ts'
import { listOf, nowMs, orReplace, tableOf } from '../database/dialect.ts'
import { inTransaction } from '../database/repeated.ts'
import { requireTable } from '../database/table-shapes.ts'

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
  async function prepared<Result>(work: () => Promise<Result>): Promise<Result> {
    return withFaults(async () => {
      requireTable(await shapes(), 'postern_login_lockout')
      return work()
    })
  }

  /** What a gateway process does with its own rows. */
  function recordsOf(owner: string): LockoutRecords {
    return {
      add: (records) =>
        prepared(async () => {
          await sql`
            insert into postern_login_lockout (name, owner, kind, sealed, since_ms, until_ms)
            select "key", ${owner}, kind, sealed, ${nowMs}, ${nowMs} + "leftMs"
            from ${tableOf('record', columns, records)}
            ${orReplace(['name', 'owner'], ['sealed', 'since_ms', 'until_ms'], sql`, cleared_ms = null`)}`.execute(
            db,
          )
          await dropSurplus()
        }),
      takeCleared: (forget) =>
        prepared(async () => {
          const { rows } = await sql<{ name: string }>`
            select name from postern_login_lockout
            where owner = ${owner} and cleared_ms is not null order by name`.execute(db)
          if (rows.length === 0) return
          for (const { name } of rows) forget(name)
          await sql`delete from postern_login_lockout
            where owner = ${owner} and cleared_ms is not null
              and name in ${listOf(rows.map(({ name }) => name))}`.execute(db)
        }),
      leave: () =>
        prepared(async () => {
          await sql`delete from postern_login_lockout where owner = ${owner}`.execute(db)
        }),
    }
  }

  /** Skips locked rows: two gateways that tidy up at once must not wait for each other. */
  async function dropSurplus(): Promise<void> {
    await sql`
      delete from postern_login_lockout where (name, owner) in (select name, owner from (
        select name, owner from postern_login_lockout where until_ms <= ${nowMs}
          or until_ms < (select until_ms from postern_login_lockout
            order by until_ms desc limit 1 offset ${maxRecords - 1}::int)
        for update skip locked) as surplus)`.execute(db)
  }

  return {
    recordsOf,
    /** Every open lock-out; of those of several processes under one key, the one that ends last. */
    list: (): Promise<readonly StoredLockout[]> =>
      prepared(async () => {
        const { rows } = await sql<Record<'name' | 'kind' | 'sealed' | 'since' | 'until', string>>`
          select name, kind, sealed, since_ms::text as since, until_ms::text as until
          from (
            select name, kind, sealed, since_ms, until_ms,
              row_number() over (partition by name order by until_ms desc) as place
            from postern_login_lockout where until_ms > ${nowMs} and cleared_ms is null
          ) as ranked where place = 1 order by name limit ${maxRecords}::int`.execute(db)
        return rows.map(({ name, kind, sealed, since, until }) => {
          return { key: name, kind, sealed, sinceMs: Number(since), untilMs: Number(until) }
        })
      }),
    /** The rest of the lock-out under a key that ends last, in seconds; 0 without one. */
    secondsLeft: (key: string): Promise<number> =>
      prepared(async () => {
        const { rows } = await sql<{ seconds: string | null }>`
          select ceil((max(until_ms) - ${nowMs}) / 1000.0) as seconds
          from postern_login_lockout
          where name = ${key} and until_ms > ${nowMs} and cleared_ms is null`.execute(db)
        return Number(rows[0]?.seconds ?? 0)
      }),
    /**
     * Marks the lock-outs under these keys as ended, which their gateways see within seconds and then
     * also forget what they counted under `related`. Returns those that were open. Appends `entry` to
     * the audit log if one was.
     */
    clear: ({ keys, related }: ClearedKeys, entry: AuditEntry): Promise<readonly string[]> =>
      prepared(() =>
        inTransaction(db, async (inside) => {
          const open = sql`cleared_ms is null and until_ms > ${nowMs} and name in ${listOf(keys)}`
          const { rows } = await sql<{ name: string; owner: string }>`
            select name, owner from postern_login_lockout where ${open}
            order by name, owner for update`.execute(inside)
          if (rows.length === 0) return []
          await sql`update postern_login_lockout set cleared_ms = ${nowMs} where ${open}`.execute(
            inside,
          )
          const owners = [...new Set(rows.map(({ owner }) => owner))].map((owner) => ({ owner }))
          const names = related.map((name) => ({ name }))
          await sql`
            insert into postern_login_lockout
              (name, owner, kind, sealed, since_ms, until_ms, cleared_ms)
            select name, owner, '', '', ${nowMs}, ${nowMs} + ${noticeMs}::int, ${nowMs}
            from ${tableOf('owners', { owner: 'text' }, owners)}
              cross join ${tableOf('related', { name: 'text' }, names)}
            where true
            ${orReplace(['name', 'owner'], ['cleared_ms'])}`.execute(inside)
          await appendAudit(inside, await shapes(), [entry])
          return [...new Set(rows.map(({ name }) => name))]
        }),
      ),
  }
}

const columns = { key: 'text', kind: 'text', sealed: 'text', leftMs: 'bigint' } as const
