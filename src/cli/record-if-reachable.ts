import { Fault, Invalid, withoutFix } from '../kernel/errors.ts'
import { accountSettings, withExistingDatabase } from '../operations/configured-database.ts'
import { type AuditEntry, recordChange } from '../stores/audit/audit.ts'
import type { Database } from '../stores/database/database.ts'
import { printable } from './format.ts'
import type { Io } from './io.ts'
import { operator } from './operator.ts'

/**
 * Records a change that is already made, for commands that also work without a database. If that fails,
 * one line says so: the change itself stays.
 */
export async function recordIfReachable(
  change: Omit<AuditEntry, 'actor'>,
  config: string | undefined,
  io: Io,
): Promise<void> {
  try {
    const settings = accountSettings(config, io)
    const entry = { ...change, actor: operator(io) }
    await withExistingDatabase(settings, (database) => recordChange(database, entry))
  } catch (error) {
    noteUnrecorded(error, io)
  }
}

/** The same with a database that is open, for revocations: they must work although the log does not. */
export async function recordIfPossible(
  change: Omit<AuditEntry, 'actor'>,
  database: Database,
  io: Io,
): Promise<void> {
  try {
    await recordChange(database, { ...change, actor: operator(io) })
  } catch (error) {
    noteUnrecorded(error, io)
  }
}

function noteUnrecorded(error: unknown, io: Io): void {
  const reason = reasonOf(error)
  if (reason === undefined) throw error
  io.err(`note: not recorded in the audit log: ${printable(reason)}\n`)
}

function reasonOf(error: unknown): string | undefined {
  if (error instanceof Fault) return error.message
  if (!(error instanceof Invalid)) return undefined
  const [first] = error.problems
  const problem = first === undefined ? error.message : withoutFix(first)
  return `${problem}; fix it, or name the configuration of the gateway with --config`
}
