import { sql } from 'kysely'
import { Fault } from '../../errors.ts'
import { KEPT_DAYS } from '../../policy/usage/usage.ts'
import type { Database } from '../database/database.ts'
import { isMissingTable, withFaults } from '../database/database-fault.ts'
import { either, listOf, tableOf } from '../database/dialect.ts'
import { toStorable } from '../database/storable-text.ts'
import { createUsageCollector } from './usage-collector.ts'
import {
  type EntryKind,
  longestName,
  mostNames,
  otherName,
  type UsageBatch,
  type UsageEntry,
} from './usage-entry.ts'
import type { UsageStore } from './usage-store.ts'

/**
 * Counts in the table `postern_policy_usage`, for deployments without Redis. A batch whose confirmation
 * was lost may count twice: a table of batches would cost more than the exactness is worth.
 */
export function createDatabaseUsage({ db, shapes }: Database): UsageStore {
  /** How many names the day has, by kind. */
  async function namesOn(day: string): Promise<ReadonlyMap<string, number>> {
    const { rows } = await sql<{ kind: string; names: string }>`
      select kind, count(*)::text as names from postern_policy_usage
      where day = ${day}::date group by kind`.execute(db)
    return new Map(rows.map(({ kind, names }) => [kind, Number(names)]))
  }

  async function known(day: string, entries: readonly UsageEntry[]): Promise<ReadonlySet<string>> {
    const names = entries.map(({ name }) => name)
    const { rows } = await sql<{ kind: string; name: string }>`
      select kind, name from postern_policy_usage
      where day = ${day}::date
        and name in ${listOf(names)}`.execute(db)
    return new Set(rows.map(({ kind, name }) => `${kind} ${name}`))
  }

  /** Gives new names of a kind that is full another one. */
  async function bounded({ day, entries }: UsageBatch): Promise<readonly UsageEntry[]> {
    const names = await namesOn(day)
    const isFull = ({ kind }: UsageEntry, most: number) =>
      (names.get(kind) ?? 0) + entries.length > most
    if (!entries.some((entry) => isFull(entry, mostNames[entry.kind]))) return entries
    const present = await known(day, entries)
    return entries.map((entry) => {
      const { kind, name, fallback = otherName } = entry
      if (present.has(`${kind} ${name}`) || !isFull(entry, mostNames[kind])) return entry
      return { ...entry, name: isFull(entry, 2 * mostNames[kind]) ? otherName : fallback }
    })
  }

  async function addAll({ day, at }: UsageBatch, entries: readonly UsageEntry[]): Promise<void> {
    const rows = entries.map(({ kind, name, count }) => ({
      kind,
      name: toStorable(name, longestName),
      count,
    }))
    // In the order of the key, so that two gateways cannot block each other.
    await sql`
      insert into postern_policy_usage (day, kind, name, count, last_ms)
      select ${day}::date, kind, name, sum(count), ${at}::bigint
      from ${tableOf('entry', columns, rows)}
      group by kind, name order by kind, name
      ${addToStored}`.execute(db)
  }

  let prunedOn = ''
  async function prune(day: string): Promise<void> {
    if (prunedOn === day) return
    await sql`
      delete from postern_policy_usage
      where day < ${firstDay(day)}::date`.execute(db)
    prunedOn = day
  }

  return {
    add: (batch) =>
      withTable(async () => {
        await shapes()
        await addAll(batch, await bounded(batch))
        await prune(batch.day)
      }),

    read: (days, kinds) =>
      withTable(async () => {
        const collector = createUsageCollector()
        // Only observed hours are of one day; what has a name is added up where it is stored.
        const { rows } = await sql<StoredRow>`
          select ${dayText} as day, kind, name, sum(count)::text as count,
                 max(last_ms)::text as last
          from postern_policy_usage
          where day in (${sql.join(days.map((day) => sql`${day}::date`))})
            and kind in ${listOf(kinds)}
          group by kind, name, case when kind = 'observed' then day end
          order by kind, name`.execute(db)
        for (const { count, last, ...stored } of rows) {
          if (!collector.add({ ...stored, count: Number(count), last: Number(last) })) break
        }
        return collector.usage()
      }),
  }
}

const columns = { kind: 'text', name: 'text', count: 'bigint' } as const

const addToStored = either(
  sql`on conflict (day, kind, name) do update
    set count = postern_policy_usage.count + excluded.count,
        last_ms = greatest(postern_policy_usage.last_ms, excluded.last_ms)`,
  sql`on duplicate key update count = postern_policy_usage.count + values(count),
    last_ms = greatest(postern_policy_usage.last_ms, values(last_ms))`,
)

const dayText = either(sql`to_char(max(day), 'YYYY-MM-DD')`, sql`date_format(max(day), '%Y-%m-%d')`)

/** The first day that is kept. */
function firstDay(day: string): string {
  return new Date(Date.parse(day) - KEPT_DAYS * 86_400_000).toISOString().slice(0, 10)
}

interface StoredRow {
  readonly day: string
  readonly kind: EntryKind
  readonly name: string
  readonly count: string
  readonly last: string
}

/** Where Postern may not create tables, a gateway works without this one, and counts nothing. */
async function withTable<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await withFaults(work)
  } catch (error) {
    if (!(error instanceof Fault) || !isMissingTable(error)) {
      throw error
    }
    const reason = 'table postern_policy_usage is missing: run "postern db migrate" to create it'
    throw new Fault('database', { cause: error.cause, reason })
  }
}
