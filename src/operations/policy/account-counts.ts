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
  /** Of the enabled ones, if they were asked for. */
  readonly names?: readonly string[]
}

/**
 * Counts the accounts of each role in the configured database, and names them if the caller wants. Creates neither a database nor tables,
 * and joins a gateway that has the embedded one open. What fails is a problem, not an error: the
 * question is about the policy.
 */
export async function countAccounts(
  { config }: PolicySettings,
  io: Surroundings,
  withNames = false,
): Promise<AccountCounts> {
  if (config === undefined) return unknown('give a valid configuration with --config')
  try {
    const list = (database: Database) => createAccountDirectory(database).list()
    return counted(await withExistingDatabase(settingsOf(config, io), list), withNames)
  } catch (error) {
    if (error instanceof Fault) return unknown(error.message)
    if (error instanceof Invalid) return unknown(error.problems.map(formatProblem).join('; '))
    throw error
  }
}

function unknown(why: string): AccountCounts {
  return { problem: `accounts are not counted: ${why}`, of: () => undefined }
}

type Accounts = Awaited<ReturnType<ReturnType<typeof createAccountDirectory>['list']>>

function counted(accounts: Accounts, withNames: boolean): AccountCounts {
  const byRole = Map.groupBy(accounts, ({ roleKey }) => roleKey)
  return {
    of(roleKey) {
      const all = byRole.get(roleKey) ?? []
      const names = all.filter(({ enabled }) => enabled).map(({ username }) => username)
      const about = { enabled: names.length, disabled: all.length - names.length }
      return withNames ? { ...about, names: names.sort() } : about
    },
  }
}

/** `3`, `2: ann, bob (and 1 disabled)`, or a dash when it is not known. */
export function countWords(count: AccountCount | undefined): string {
  if (count === undefined) return '-'
  const { enabled, disabled, names = [] } = count
  const more = names.length > mostNames ? `, … and ${names.length - mostNames} more` : ''
  const named = names.length === 0 ? '' : `: ${names.slice(0, mostNames).join(', ')}${more}`
  return `${enabled}${named}${disabled === 0 ? '' : ` (and ${disabled} disabled)`}`
}

const mostNames = 10
