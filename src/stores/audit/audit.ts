import { hostname } from 'node:os'
import { sql } from 'kysely'
import {
  type Database,
  type Db,
  requireTables,
  type TableShapes,
  withFaults,
} from '../database/database.ts'
import { before, clock, toStorable } from '../database/dialect.ts'
import { insertRows } from '../database/insert-rows.ts'
import type { AuditAction } from './audit-action.ts'

/** Who made a change: an operator with a command, a user or a service account with a token, or a gateway by itself. */
export interface Actor {
  readonly kind: 'operator' | 'user' | 'service' | 'gateway'
  readonly name: string
  /** The host of a command or gateway, the client address of a token. */
  readonly origin: string
}

/** One change. `before` and `after` are what it changed, as JSON, without passwords, hashes or tokens. */
export interface AuditEntry {
  readonly actor: Actor
  readonly action: AuditAction
  readonly subject: string
  readonly before?: Readonly<Record<string, unknown>> | undefined
  readonly after?: Readonly<Record<string, unknown>> | undefined
  /** How many milliseconds ago it happened, where the entry had to wait; absent: now. */
  readonly agoMs?: number | undefined
}

/** Appends one change that no transaction of the database made. Every error becomes a Fault. */
export async function recordChange(
  { db, shapes }: Pick<Database, 'db' | 'shapes'>,
  entry: AuditEntry,
): Promise<void> {
  await withFaults(async () => appendAudit(db, await shapes(), [entry]))
}

/**
 * Appends to the audit log. Call it in the transaction of the change, so that neither exists without
 * the other. The table rejects every update and deletion.
 */
export async function appendAudit(
  inside: Db,
  shapes: TableShapes,
  entries: readonly AuditEntry[],
): Promise<void> {
  if (entries.length === 0) return
  requireTables(shapes, 'postern_audit')
  const rows = entries.map(({ actor, action, subject, before: was, after, agoMs = 0 }) => ({
    actor_kind: actor.kind,
    actor: toStorable(actor.name, 128),
    origin: toStorable(actor.origin, 255),
    action,
    subject: toStorable(subject, 255),
    before: was === undefined ? null : detailText(was),
    after: after === undefined ? null : detailText(after),
    ago: agoMs,
  }))
  await insertRows(inside, 'postern_audit', rows, {
    using: { ago: 'float8' },
    computed: { at: before(clock, sql.ref('ago')) },
  })
}

/** Nothing deletes a row, so no message of a publisher and no list may be of any length. */
const maxText = 1000
const maxDetail = 16_384

export function detailText(detail: Readonly<Record<string, unknown>>): string {
  const text = JSON.stringify(detail, (_, value) =>
    typeof value === 'string' && value.length > maxText ? `${value.slice(0, maxText)}…` : value,
  )
  return text.length <= maxDetail ? text : JSON.stringify({ omitted: `${text.length} characters` })
}

/** A gateway that changes something by itself, for the audit log. */
export function gatewayActor(): Actor {
  return { kind: 'gateway', name: 'postern', origin: hostname() }
}
