import { withTimeout } from '../../background/with-timeout.ts'
import { Fault, type Invalid } from '../../kernel/errors.ts'
import { withFaults } from '../database/database.ts'

type Bounded = <Result>(work: () => Promise<Result>) => Promise<Result>

/**
 * Runs queries for a client who waits for both a connection and its answer: nothing takes longer than
 * `timeoutMs`, and every error becomes a Fault.
 */
export function createBounded(timeoutMs: number): Bounded {
  return (work) => withFaults(() => withTimeout(timeoutMs, work())).catch(refuseTables)
}

/** A server that was unreachable at the start can return with other tables: a fault, not a bug. */
function refuseTables(error: Fault | Invalid): never {
  if (error instanceof Fault) throw error
  const reason = `incompatible tables: ${error.problems[0]?.message}`
  throw new Fault('database', { reason })
}
