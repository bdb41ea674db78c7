import { sql } from 'kysely'
import type { Revocation } from '../../token/revocations.ts'
import { backendOf } from '../database/backend.ts'
import type { Db } from '../database/database.ts'
import { listOf, lockUntilCommit, nowMs } from '../database/dialect.ts'
import { insertRows } from '../database/insert-rows.ts'
import { MAX_AHEAD_MS, PAGE, type RevocationRow, toRow } from './revocation-store.ts'

/**
 * Makes sequences visible in order: a reader would skip one that is committed late. A statement of its
 * own, because the next one must see what the previous holder wrote.
 */
const lock = lockUntilCommit('postern_revocation')

/** Adds to the list in a transaction. */
export async function appendInside(
  inside: Db,
  revocations: readonly Revocation[],
  made: 'now' | 'before',
): Promise<void> {
  await lock.execute(inside)
  const incoming = latestOf(revocations.map(toRow))
  const { clock, known } = await readKnown(inside, incoming)
  const old = inside.selectFrom('postern_revocation').where('until_ms', '<', String(clock))
  const oldest = old.select('name').orderBy('until_ms').limit(PAGE).forUpdate().skipLocked()
  const expired = inside.selectFrom(oldest.as('expired')).select('name')
  await inside.deleteFrom('postern_revocation').where('name', 'in', expired).execute()
  const outgoing = decide(incoming, known, { clock, isNew: made === 'now' }).filter(
    ({ name, moment }) => moment > (known.get(name) ?? -1),
  )
  if (outgoing.length === 0) return
  const first = backendOf(inside).numbers ? undefined : await numbersFor(inside, outgoing.length)
  // Names sort so that an exception (k) gets a lower sequence than its mark (u).
  const rows = outgoing.map(({ name, userId, moment, until }, index) => ({
    ...{ name, user_id: userId, moment_ms: moment, until_ms: until },
    ...(first !== undefined && { sequence: first + index }),
  }))
  const ifThere = ['moment_ms', 'until_ms', 'sequence'] as const
  await insertRows(inside, 'postern_revocation', rows, { ifThere })
}

/**
 * The first of so many new sequences, where the database does not number this column. The counter is in
 * the row that the lock is: it never goes back, also after the newest entries expired.
 */
async function numbersFor(inside: Db, many: number): Promise<number> {
  const value = sql<string>`value + ${many}`
  await inside
    .updateTable('postern_lock')
    .set({ value })
    .where(...ofLock)
    .execute()
  const counter = inside
    .selectFrom('postern_lock')
    .select('value')
    .where(...ofLock)
  return Number((await counter.executeTakeFirstOrThrow()).value) - many + 1
}

const ofLock = ['name', '=', 'postern_revocation'] as const

/** Of several rows of a name the latest, in the order of the names. */
function latestOf(rows: readonly RevocationRow[]): readonly RevocationRow[] {
  const byName = new Map<string, RevocationRow>()
  for (const row of rows) {
    const other = byName.get(row.name)
    if (other === undefined || other.moment < row.moment) byName.set(row.name, row)
  }
  return [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}

async function readKnown(inside: Db, incoming: readonly RevocationRow[]) {
  const names = listOf(incoming.map(({ name }) => name))
  const rows = await inside
    .selectFrom(inside.selectNoFrom(nowMs.as('clock')).as('one'))
    .leftJoin('postern_revocation as known', (join) => join.on('known.name', 'in', names))
    .select(['one.clock', 'known.name', 'known.moment_ms'])
    .execute()
  const known = new Map(rows.map(({ name, moment_ms: moment }) => [name ?? '', Number(moment)]))
  return { clock: Number(rows[0]?.clock), known }
}

/** A mark (u) is dated by the database; an exception (k) from it has its moment, unless it is older. */
function decide(
  incoming: readonly RevocationRow[],
  known: ReadonlyMap<string, number>,
  { clock, isNew }: { readonly clock: number; readonly isNew: boolean },
): readonly RevocationRow[] {
  const marks = new Map<string, RevocationRow>()
  for (const row of incoming.filter(({ name }) => name.startsWith('u:'))) {
    const earlier = known.get(row.name)
    const bounded = Math.min(Math.max(row.moment, clock), clock + MAX_AHEAD_MS)
    const moment = isNew ? Math.max(bounded, (earlier ?? -1) + 1) : row.moment
    marks.set(row.userId, { ...row, moment })
  }
  const refused = new Set<string>()
  const kept = incoming.flatMap((row) => {
    const mark = marks.get(row.userId)
    if (!row.name.startsWith('k:') || mark === undefined) return []
    if (!isNew && row.moment !== mark.moment) return []
    const earlier = known.get(mark.name)
    const since = Number(row.name.split(':')[1])
    if (earlier !== undefined && earlier >= since && known.get(row.name) !== earlier) {
      refused.add(row.userId)
      return []
    }
    return [{ ...row, moment: mark.moment }]
  })
  const dated = Array.from(marks.values(), (mark) => ({
    ...mark,
    moment: mark.moment + (refused.has(mark.userId) ? 1 : 0),
  }))
  const others = incoming.filter(({ name }) => !/^[uk]:/.test(name))
  return [...kept, ...dated, ...others].sort((a, b) => (a.name < b.name ? -1 : 1))
}
