import { Fault } from '../../kernel/errors.ts'
import { KEPT_DAYS } from '../../policy/usage/usage.ts'
import { type Database, isMissingTable, withFaults } from '../database/database.ts'
import { dayText, listOf, tableOf, toStorable } from '../database/dialect.ts'
import {
  createUsageCollector,
  type EntryKind,
  longestName,
  mostNames,
  otherName,
  type UsageBatch,
  type UsageEntry,
  type UsageStore,
} from './usage-entry.ts'

/**
 * Counts in the table `postern_policy_usage`, for deployments without Redis. A batch whose confirmation
 * was lost may count twice: a table of batches would cost more than the exactness is worth.
 */
export function createDatabaseUsage({ db, shapes }: Database): UsageStore {
  /** How many names the day has, by kind. */
  async function namesOn(day: string): Promise<ReadonlyMap<string, number>> {
    const rows = await db
      .selectFrom('postern_policy_usage')
      .select(({ fn }) => ['kind', fn.countAll<string>().as('names')])
      .where('day', '=', day)
      .groupBy('kind')
      .execute()
    return new Map(rows.map(({ kind, names }) => [kind, Number(names)]))
  }

  async function known(day: string, entries: readonly UsageEntry[]): Promise<ReadonlySet<string>> {
    const names = entries.map(({ name }) => name)
    const rows = await db
      .selectFrom('postern_policy_usage')
      .select(['kind', 'name'])
      .where('day', '=', day)
      .where('name', 'in', listOf(names))
      .execute()
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
      last_ms: at,
    }))
    // In the order of the key, so that two gateways cannot block each other.
    await db
      .insertInto('postern_policy_usage')
      .columns(['day', 'kind', 'name', 'count', 'last_ms'])
      .expression(({ selectFrom }) =>
        selectFrom(tableOf('entry', columns, rows))
          .select(({ cast, val }) => [cast<string>(val(day), 'date').as('day'), 'kind', 'name'])
          .select(({ fn }) => [fn.sum('count').as('count'), fn.max('last_ms').as('last_ms')])
          .groupBy(['kind', 'name'])
          .orderBy('kind')
          .orderBy('name'),
      )
      .onConflict((conflict) =>
        conflict.columns(['day', 'kind', 'name']).doUpdateSet(({ eb, fn, ref }) => ({
          count: eb('postern_policy_usage.count', '+', ref('excluded.count')),
          last_ms: fn<string>('greatest', ['postern_policy_usage.last_ms', 'excluded.last_ms']),
        })),
      )
      .execute()
  }

  let prunedOn = ''
  async function prune(day: string): Promise<void> {
    if (prunedOn === day) return
    await db.deleteFrom('postern_policy_usage').where('day', '<', firstDay(day)).execute()
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
        const rows = await db
          .selectFrom('postern_policy_usage')
          .select(({ fn }) => [dayText(fn.max('day')).as('day'), 'kind', 'name'])
          .select(({ fn }) => [fn.sum('count').as('count'), fn.max('last_ms').as('last')])
          .where('day', 'in', days)
          .where('kind', 'in', listOf(kinds))
          .groupBy(['kind', 'name'])
          .groupBy(({ eb }) => eb.case().when('kind', '=', 'observed').then(eb.ref('day')).end())
          .orderBy('kind')
          .orderBy('name')
          .execute()
        for (const { kind, count, last, ...stored } of rows) {
          const entry = { ...stored, kind: kind as EntryKind }
          if (!collector.add({ ...entry, count: Number(count), last: Number(last) })) break
        }
        return collector.usage()
      }),
  }
}

const columns = { kind: 'text', name: 'text', count: 'bigint', last_ms: 'bigint' } as const

/** The first day that is kept. */
function firstDay(day: string): string {
  return new Date(Date.parse(day) - KEPT_DAYS * 86_400_000).toISOString().slice(0, 10)
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
