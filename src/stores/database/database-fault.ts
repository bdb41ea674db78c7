import { Fault, Invalid } from '../../kernel/errors.ts'

/**
 * Turns every error of the driver into a Fault that keeps only its message and code: the rest can
 * hold whole rows and parameters.
 */
export async function withFaults<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    throw databaseFault(error)
  }
}

export function databaseFault(error: unknown): Fault | Invalid {
  if (error instanceof Fault || error instanceof Invalid) return error
  // An error about several addresses has its text only in its parts.
  const innermostError = error instanceof AggregateError ? error.errors.at(-1) : error
  const message = innermostError instanceof Error ? innermostError.message : String(innermostError)
  const code = errorCode(innermostError)
  const cause = Object.assign(new Error(message), { code })
  return new Fault('database', { cause, reason: `database: ${conflicts[code ?? ''] ?? message}` })
}

const deadlock =
  'deadlock with a concurrent change of the same rows; this change was rolled back: try again'
/** What the servers say in words of their own, or of transactions that an operator does not know. */
const conflicts: Readonly<Record<string, string>> = {
  '40001': deadlock,
  '40P01': deadlock,
  '55P03':
    'lock timeout: another transaction holds the same rows; this change was rolled back: try again',
}

/** Whether the database rolled back because of a concurrent change: a repetition may succeed. */
export function isConflict(error: unknown): boolean {
  return (errorCode(error instanceof Fault ? error.cause : error) ?? '') in conflicts
}

/** Whether the database is unreachable, as opposed to having rejected a statement. */
export function isUnreachable(error: unknown): boolean {
  if (!(error instanceof Fault)) return false
  return isConnectionError(error.cause)
}

/**
 * The SQLSTATE with which the database rejected a value (too long, a constraint, a trigger), as
 * opposed to the statement. A retry would fail again.
 */
export function refusedContent(error: unknown): string | undefined {
  const code = error instanceof Fault ? errorCode(error.cause) : undefined
  return code !== undefined && /^(?:22...|23...|45000|P0001)$/.test(code) ? code : undefined
}

/** Whether a unique index rejected a value. */
export function isDuplicate(error: unknown): boolean {
  return error instanceof Fault && errorCode(error.cause) === '23505'
}

/** Whether a table does not exist. */
export function isMissingTable(error: unknown): boolean {
  const code = error instanceof Fault ? errorCode(error.cause) : undefined
  return code === '42P01' || code === '42S02'
}

/** Whether an error of the driver leaves its connection unusable. */
export function isConnectionError(error: unknown): boolean {
  const code = errorCode(error)
  // Not a SQLSTATE: of the system or the driver. 08 and 57P: connection lost. 53: server too full.
  return code === undefined || !/^[0-9FHPX][0-9A-Z]{4}$/.test(code) || /^(?:08|57P|53)/.test(code)
}

function errorCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}
