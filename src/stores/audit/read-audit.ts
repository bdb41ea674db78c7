import { readJson } from '../../kernel/json.ts'
import { type Database, requireTables, withFaults } from '../database/database.ts'
import { before, now, toStorable, utcText } from '../database/dialect.ts'

/** One recorded change. Rows of a newer version may have kinds and actions that this one lacks. */
export type AuditRecord = Awaited<ReturnType<typeof readAudit>>[number]

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
) {
  return withFaults(async () => {
    requireTables(await shapes(), 'postern_audit')
    const rows = await db
      .selectFrom('postern_audit')
      .select(['id', utcText('postern_audit.at').as('at'), 'actor_kind as kind', 'actor as name'])
      .select(['origin', 'action', 'subject', 'before', 'after'])
      .where(({ and, eb, fn, or, val }) =>
        and([
          ...when(beforeId, (id) => eb('id', '<', id)),
          ...when(sinceMs, (ms) => eb('postern_audit.at', '>=', before(now, ms))),
          ...when(actor, (name) => eb('actor', '=', toStorable(name, 128))),
          ...when(subject, (name) => eb('subject', '=', toStorable(name, 255))),
          ...when(action, (name) => {
            const known = toStorable(name, 64)
            const start = fn<string>('left', ['action', val([...known].length + 1)])
            // Of "user.add", "user" is the kind, and "user." is not.
            const ofKind = known.includes('.') ? [] : [eb(start, '=', `${known}.`)]
            return or([eb('action', '=', known), ...ofKind])
          }),
        ]),
      )
      .orderBy('postern_audit.id', 'desc')
      .limit(limit)
      .execute()
    return rows.map(
      ({ id, at, kind, name, origin, action: done, subject: whom, before: was, after }) => ({
        // `at`: by the clock of the database, RFC 3339.
        ...{ id, at: at ?? '', actor: { kind, name, origin }, action: done, subject: whom },
        ...{ before: detail(was), after: detail(after) },
      }),
    )
  })
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
