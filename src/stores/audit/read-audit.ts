import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import { withFaults } from '../database/database-fault.ts'
import { before, either, now } from '../database/dialect.ts'
import { toStorable } from '../database/storable-text.ts'
import { requireTable } from '../database/table-shapes.ts'
import { utcText } from '../database/utc-text.ts'
import { readJson } from '../json-text.ts'

/** One recorded change. Rows of a newer version may have kinds and actions that this one lacks. */
export interface AuditRecord {
  readonly id: string
  /** By the clock of the database, RFC 3339. */
  readonly at: string
  readonly actor: { readonly kind: string; readonly name: string; readonly origin: string }
  readonly action: string
  readonly subject: string
  readonly before: unknown
  readonly after: unknown
}

interface AuditQuery {
  /** Only changes of the last so many milliseconds. */
  readonly sinceMs?: number | undefined
  /** The exact name. */
  readonly actor?: string | undefined
  /** An action, or what comes before its dot. */
  readonly action?: string | undefined
  /** The exact name or ID. */
  readonly subject?: string | undefined
  /** Only records older than the one with this ID: the next page. */
  readonly beforeId?: string | undefined
  readonly limit: number
}

/** Recorded changes, newest first. Every error becomes a Fault. */
export async function readAudit(
  { db, shapes }: Pick<Database, 'db' | 'shapes'>,
  { sinceMs, actor, action, subject, beforeId, limit }: AuditQuery,
): Promise<readonly AuditRecord[]> {
  const conditions = [
    sql`true`,
    ...when(beforeId, (id) => sql`id < ${id}::bigint`),
    ...when(sinceMs, (ms) => sql`at >= ${before(now, ms)}`),
    ...when(actor, (name) => sql`actor = ${toStorable(name, 128)}::text`),
    ...when(action, (name) => sql`${toStorable(name, 64)}::text in (action, ${kindOfAction})`),
    ...when(subject, (name) => sql`subject = ${toStorable(name, 255)}::text`),
  ]
  return withFaults(async () => {
    requireTable(await shapes(), 'postern_audit')
    const { rows } = await sql<Row>`
      select id::text as "id",
        ${utcText('postern_audit.at')} as "at",
        actor_kind as "kind", actor as "name", origin, action, subject, "before", after
      from postern_audit where ${sql.join(conditions, sql` and `)}
      order by postern_audit.id desc limit ${limit}::int`.execute(db)
    return rows.map(
      ({ id, at, kind, name, origin, action: done, subject: whom, before: was, after }) => ({
        ...{ id, at, actor: { kind, name, origin }, action: done, subject: whom },
        ...{ before: detail(was), after: detail(after) },
      }),
    )
  })
}

const kindOfAction = either(sql`split_part(action, '.', 1)`, sql`substring_index(action, '.', 1)`)

interface Row {
  readonly id: string
  readonly at: string
  readonly kind: string
  readonly name: string
  readonly origin: string
  readonly action: string
  readonly subject: string
  readonly before: string | null
  readonly after: string | null
}

function when<Value, Result>(
  value: Value | undefined,
  make: (value: Value) => Result,
): readonly Result[] {
  return value === undefined ? [] : [make(value)]
}

/** People with SQL can insert any text here. */
function detail(text: string | null): unknown {
  if (text === null) return null
  return readJson(text) ?? text
}
