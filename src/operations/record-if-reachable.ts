import { Fault, Invalid, withoutFix } from '../kernel/errors.ts'
import { type AuditEntry, recordChange } from '../stores/audit/audit.ts'
import type { Database } from '../stores/database/database.ts'
import { accountSettings, withExistingDatabase } from './configured-database.ts'
import type { Context } from './context.ts'

type Change = Omit<AuditEntry, 'actor'>

/**
 * Records a change that is already made, for operations that also work without a database. If that
 * fails, returns one line that says so: the change itself stays.
 */
export function recordIfReachable(change: Change, context: Context): Promise<readonly string[]> {
  return noteUnrecorded(async () => {
    const settings = accountSettings(context.configFile, context)
    const entry = { ...change, actor: context.actor }
    await withExistingDatabase(settings, (database) => recordChange(database, entry))
  })
}

/** Records a change in an open database, for revocations: they must work although the log does not. */
export function recordIfPossible(
  change: Change,
  database: Database,
  { actor }: Context,
): Promise<readonly string[]> {
  return noteUnrecorded(() => recordChange(database, { ...change, actor }))
}

async function noteUnrecorded(record: () => Promise<void>): Promise<readonly string[]> {
  try {
    await record()
    return []
  } catch (error) {
    const reason = reasonOf(error)
    if (reason === undefined) throw error
    return [`note: not recorded in the audit log: ${reason}`]
  }
}

function reasonOf(error: unknown): string | undefined {
  if (error instanceof Fault) return error.message
  if (!(error instanceof Invalid)) return undefined
  const [first] = error.problems
  const problem = first === undefined ? error.message : withoutFix(first)
  return `${problem}; fix it, or name the configuration of the gateway with --config`
}
