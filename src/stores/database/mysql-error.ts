/**
 * The error with its SQLSTATE as code, where the server sent one, as the driver of PostgreSQL has it:
 * the stores tell errors apart by that. Without its SQL text, which contains the parameters.
 */
export function withSqlState(error: unknown): Error {
  const { message = String(error), code, errno, sqlState, fatal } = error as DriverError
  const state = fatal === true ? undefined : (states.get(errno ?? 0) ?? sqlState)
  return Object.assign(new Error(message), { code: state ?? code })
}

interface DriverError extends Partial<Error> {
  readonly code?: string
  readonly errno?: number
  readonly sqlState?: string
  readonly fatal?: boolean
}

/** Errors whose SQLSTATE says less than their number. */
const states: ReadonlyMap<number, string> = new Map([
  [1062, '23505'], // A value that a unique index has already.
  [1205, '55P03'], // A lock that was not free in time.
  [1020, '40001'], // A row that changed since the transaction read it.
  [4025, '23514'], // A check constraint, of MariaDB and of MySQL.
  [3819, '23514'],
  [1366, '22018'], // A text that the character set of the column cannot hold.
  [1290, '25006'], // The server is read-only.
  [1836, '25006'],
  [1053, '57P01'], // The server shuts down.
  [1040, '53300'], // It has too many connections.
])
