import { formatCsv } from '../csv.ts'
import { cellsOf, type Sheet } from './sheet.ts'

/** A line for each operation, and a column for each role. */
export function formatSheet(sheet: Sheet): string {
  const { roles, operations } = sheet
  const titles = ['method', 'path', 'access', 'served by', 'exact', ...roles]
  const rows = operations.map((operation) => [
    operation.method,
    operation.path,
    [...operation.access, ...(operation.isFixedResponse ? ['fixed-response'] : [])].join(' '),
    operation.servedBy.join(' '),
    operation.isExact ? 'yes' : 'no',
    ...cellsOf(operation, sheet),
  ])
  return formatCsv([titles, ...rows])
}
