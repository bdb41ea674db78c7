import { Fault, formatProblem, Invalid } from '../../kernel/errors.ts'
import { createAccountDirectory } from '../../stores/accounts/account-directory.ts'
import type { Database } from '../../stores/database/database.ts'
import { settingsOf, withExistingDatabase } from '../configured-database.ts'
import type { Surroundings } from '../context.ts'
import type { PolicySettings } from '../policy-settings.ts'

/** How many accounts each role has, or why that is not known. */
export interface AccountCounts {
  readonly problem?: string
  readonly of: (roleKey: string) => AccountCount | undefined
}

/** Of one role. */
export interface AccountCount {
  readonly enabled: number
  readonly disabled: number
}

/**
 * Counts the accounts of each role in the configured database. Creates neither a database nor tables,
 * and joins a gateway that has the embedded one open. What fails is a problem, not an error: the
 * question is about the policy.
 */
export async function countAccounts(
  { config }: PolicySettings,
  io: Surroundings,
): Promise<AccountCounts> {
  if (config === undefined) return unknown('give a valid configuration with --config')
  try {
    const list = (database: Database) => createAccountDirectory(database).list()
    return counted(await withExistingDatabase(settingsOf(config, io), list))
  } catch (error) {
    if (error instanceof Fault) return unknown(error.message)
    if (error instanceof Invalid) return unknown(error.problems.map(formatProblem).join('; '))
    throw error
  }
}

function unknown(why: string): AccountCounts {
  return { problem: `accounts are not counted: ${why}`, of: () => undefined }
}

function counted(
  accounts: readonly { readonly roleKey: string; readonly enabled: boolean }[],
): AccountCounts {
  const counts = new Map<string, { enabled: number; disabled: number }>()
  for (const { roleKey, enabled } of accounts) {
    const known = counts.get(roleKey) ?? { enabled: 0, disabled: 0 }
    known[enabled ? 'enabled' : 'disabled']++
    counts.set(roleKey, known)
  }
  return { of: (roleKey) => counts.get(roleKey) ?? { enabled: 0, disabled: 0 } }
}

/** `3`, `3 (and 1 disabled)`, or a dash when it is not known. */
export function countWords(count: AccountCount | undefined): string {
  if (count === undefined) return '-'
  const { enabled, disabled } = count
  return disabled === 0 ? `${enabled}` : `${enabled} (and ${disabled} disabled)`
}
