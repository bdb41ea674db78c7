import type { Kysely } from 'kysely'
import { isRecord, readJson } from '../../kernel/json.ts'
import type { Database } from '../database/database.ts'
import { withFaults } from '../database/database-fault.ts'
import { lockUntilCommit } from '../database/dialect.ts'
import { inTransaction } from '../database/repeated.ts'
import { toStorable } from '../database/storable-text.ts'
import { requireTable } from '../database/table-shapes.ts'
import type { Schema } from '../database/tables.ts'
import { type AuditEntry, appendAudit, detailText } from './audit.ts'

/**
 * Appends what a gateway found at its start, unless that is the last entry of this action and subject:
 * files can change while no gateway runs, and most starts find what the previous gateway had. Replicas
 * that start together write one entry. What this host had counts too: during a rollout, another host
 * may have newer files.
 */
export async function recordIfNew(
  { db, shapes }: Pick<Database, 'db' | 'shapes'>,
  entry: AuditEntry,
): Promise<void> {
  await withFaults(async () => {
    const shape = await shapes()
    requireTable(shape, 'postern_audit')
    await inTransaction(db, async (inside) => {
      const { anywhere, here } = await lastKnown(inside, entry)
      const found = detailText(entry.after ?? {})
      if (found === anywhere || found === here) return
      const before = anywhere === null ? undefined : fieldsIn(anywhere)
      await appendAudit(inside, shape, [{ ...entry, before }])
    })
  })
}

async function lastKnown(inside: Kysely<Schema>, { action, subject, actor }: AuditEntry) {
  const known = toStorable(subject, 255)
  await lockUntilCommit('postern_audit', ` ${action} ${known}`).execute(inside)
  const last = inside
    .selectFrom('postern_audit')
    .select('after')
    .where('action', '=', action)
    .where('subject', '=', known)
    .orderBy('id', 'desc')
    .limit(1)
  const here = last.where('origin', '=', toStorable(actor.origin, 255))
  return inside.selectNoFrom([last.as('anywhere'), here.as('here')]).executeTakeFirstOrThrow()
}

function fieldsIn(text: string): Readonly<Record<string, unknown>> | undefined {
  const value = readJson(text)
  return isRecord(value) ? value : undefined
}
