import { type Kysely, sql } from 'kysely'
import { listOf, nowMs, tableOf } from '../database/dialect.ts'
import type { Schema } from '../database/schema.ts'
import { MAX_AHEAD_MS, PAGE, type toRow } from './revocation-store.ts'

type Row = ReturnType<typeof toRow>

/**
 * What one statement does on PostgreSQL, under the same lock. The counter of sequences is in the row
 * that the lock is: it never goes back, also after the newest entries expired.
 */
export async function appendOnMysql(
  inside: Kysely<Schema>,
  rows: readonly Row[],
  isNew: boolean,
): Promise<void> {
  const incoming = latestOf(rows)
  const { clock, known } = await readKnown(inside, incoming)
  await sql`
    delete from postern_revocation where name in (select name from (
      select name from postern_revocation where until_ms < ${clock}
      order by until_ms limit ${PAGE} for update skip locked) as expired)`.execute(inside)
  const outgoing = decide(incoming, known, { clock, isNew }).filter(
    ({ name, moment }) => moment > (known.get(name) ?? -1),
  )
  if (outgoing.length === 0) return
  await sql`update postern_lock set value = value + ${outgoing.length}
    where name = 'postern_revocation'`.execute(inside)
  const { rows: counter } = await sql<{ value: string }>`
    select value from postern_lock where name = 'postern_revocation'`.execute(inside)
  const first = Number(counter[0]?.value) - outgoing.length + 1
  const numbered = outgoing.map((row, index) => ({ ...row, sequence: first + index }))
  await sql`
    insert into postern_revocation (name, user_id, moment_ms, until_ms, sequence)
    select name, "userId", moment, until, sequence from ${tableOf('outgoing', columns, numbered)}
    on duplicate key update moment_ms = values(moment_ms), until_ms = values(until_ms),
      sequence = values(sequence)`.execute(inside)
}

const columns = {
  name: 'text',
  userId: 'text',
  moment: 'bigint',
  until: 'bigint',
  sequence: 'bigint',
} as const

/** Of several rows of a name the latest, in the order of the names. */
function latestOf(rows: readonly Row[]): readonly Row[] {
  const byName = new Map<string, Row>()
  for (const row of rows) {
    const other = byName.get(row.name)
    if (other === undefined || other.moment < row.moment) byName.set(row.name, row)
  }
  return [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}

async function readKnown(inside: Kysely<Schema>, incoming: readonly Row[]) {
  const { rows } = await sql<{ clock: string }>`select ${nowMs} as clock`.execute(inside)
  const { rows: found } = await sql<{ name: string; moment: string }>`
    select name, moment_ms as moment from postern_revocation
    where name in ${listOf(incoming.map(({ name }) => name))}`.execute(inside)
  const known = new Map(found.map(({ name, moment }) => [name, Number(moment)]))
  return { clock: Number(rows[0]?.clock), known }
}

/** A mark (u) is dated by the database; an exception (k) from it has its moment, unless it is older. */
function decide(
  incoming: readonly Row[],
  known: ReadonlyMap<string, number>,
  { clock, isNew }: { readonly clock: number; readonly isNew: boolean },
): readonly Row[] {
  const marks = new Map<string, Row>()
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
