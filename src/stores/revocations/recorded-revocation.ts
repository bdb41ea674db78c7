import type { Revocation } from '../../token/revocations.ts'
import { type AuditEntry, appendAudit, recordChange } from '../audit/audit.ts'
import type { Database } from '../database/database.ts'
import { withFaults } from '../database/database-fault.ts'
import { inTransaction } from '../database/repeated.ts'
import { requireTable } from '../database/table-shapes.ts'
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
    requireTable(await database.shapes(), 'postern_audit')
    await store.append(revocations, 'now')
    return recordChange(database, change)
  }
  await withFaults(async () => {
    const shapes = await database.shapes()
    await inTransaction(database.db, async (inside) => {
      await appendInside(inside, revocations, 'now')
      await appendAudit(inside, shapes, [change])
    })
  })
}
