import { requireTable, type TableShapes } from '../database/table-shapes.ts'

/** Throws a Fault if a table of service accounts is missing: gateways start without them. */
export function requireServiceTables(shapes: Pick<TableShapes, 'optional'>): void {
  requireTable(shapes, 'postern_service_account')
  requireTable(shapes, 'postern_service_token')
}
