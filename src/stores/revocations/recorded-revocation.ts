import type { Revocation } from '../../token/revocations.ts'
import { type AuditEntry, appendAudit, recordChange } from '../audit/audit.ts'
import { type Database, inTransaction, requireTables } from '../database/database.ts'
import { appendInside } from './append-revocations.ts'
import type { RevocationStore } from './revocation-store.ts'

/**
 * Revokes from now on, and appends the change to the audit log: in one transaction where both are in
 * the database, otherwise as soon as Redis has the revocation.
 */
export async function revokeRecorded(
  revocations: readonly Revocation[],
  change: AuditEntry,
  { store, database }: { readonly store: RevocationStore; readonly database: Database },
): Promise<void> {
  if (store.name === 'redis') {
    requireTables(await database.shapes(), 'postern_audit')
    await store.append(revocations, 'now')
    return recordChange(database, change)
  }
  await inTransaction(database, async (inside, shapes) => {
    await appendInside(inside, revocations, 'now')
    await appendAudit(inside, shapes, [change])
  })
}
