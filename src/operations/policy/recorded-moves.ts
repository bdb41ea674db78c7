import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Fault, Invalid } from '../../kernel/errors.ts'
import { createMoveTable } from '../../stores/policies/moves/move-table.ts'
import type { Move } from '../../stores/policies/policy-store.ts'
import { withDatabase } from '../configured-database.ts'
import type { PolicySettings } from '../policy-settings.ts'

/**
 * The moves that the database has, or why it could not be asked. Asks the database of the configuration, PostgreSQL or embedded, and creates nothing in it. Without
 * a configuration, or where no gateway has created its embedded database, there is nothing to ask.
 */
export async function readRecordedMoves(
  { config, shared }: Pick<PolicySettings, 'config' | 'shared'>,
  most: number,
  cwd: string,
): Promise<{ readonly moves: readonly Move[]; readonly problem?: string }> {
  if (config === undefined) return { moves: [] }
  const directory = resolve(cwd, config.application.dataDirectory)
  const { url } = config.database
  if (url === undefined && !existsSync(join(directory, 'database'))) return { moves: [] }
  try {
    const options = { ...config.database, migrate: 'never', prepare: 'later' } as const
    const settings = { config: { ...config, database: options }, directory, shared }
    const moves = await withDatabase(settings, (database) =>
      createMoveTable(database, config.redis.prefix).list(most),
    )
    return { moves }
  } catch (error) {
    if (error instanceof Fault || error instanceof Invalid) {
      return { moves: [], problem: error.message }
    }
    throw error
  }
}
