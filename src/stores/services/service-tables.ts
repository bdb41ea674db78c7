import { Fault } from '../../errors.ts'
import type { OptionalTable } from '../database/migrations.ts'
import type { TableShapes } from '../database/table-shapes.ts'

const tables: readonly OptionalTable[] = ['postern_service_account', 'postern_service_token']

/** Throws a Fault if a table of service accounts is missing: gateways start without them. */
export function requireServiceTables({ optional }: Pick<TableShapes, 'optional'>): void {
  const missing = tables.find((table) => !optional.has(table))
  if (missing === undefined) return
  const reason = `table ${missing} is missing: run "postern db migrate" to create it`
  throw new Fault('database', { reason })
}
