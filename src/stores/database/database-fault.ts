import { Fault, Invalid } from '../../errors.ts'

/**
 * Runs a piece of database work; whatever the driver throws becomes a Fault. Only message and code
 * of the driver's error are kept: the rest of it can hold whole rows and parameters.
 */
export async function withFaults<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    throw databaseFault(error)
  }
}

/** The Fault, or Invalid, that stands for this error. */
export function databaseFault(error: unknown): Fault | Invalid {
  if (error instanceof Fault || error instanceof Invalid) return error
  // A refused connection to a name with several addresses has its words only in its parts.
  const innermostError = error instanceof AggregateError ? error.errors.at(-1) : error
  const message = innermostError instanceof Error ? innermostError.message : String(innermostError)
  const cause = Object.assign(new Error(message), { code: errorCode(innermostError) })
  return new Fault('database', { cause, reason: `database: ${message}` })
}

/** Whether the database cannot be reached at the moment, as opposed to having said no. */
export function isUnreachable(error: unknown): boolean {
  if (!(error instanceof Fault)) return false
  return isConnectionError(error.cause)
}

/**
 * The SQLSTATE with which the database refused what a statement says, as opposed to the statement:
 * a value that does not fit, a constraint, a trigger that objects. Trying again is of no use.
 */
export function refusedContent(error: unknown): string | undefined {
  const code = error instanceof Fault ? errorCode(error.cause) : undefined
  return code !== undefined && /^(?:22...|23...|P0001)$/.test(code) ? code : undefined
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
