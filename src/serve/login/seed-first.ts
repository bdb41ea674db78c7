import { existsSync } from 'node:fs'
import { firstPasswordsFile, writeFirstPasswords } from '../../stores/accounts/first-passwords.ts'
import { seedAccounts } from '../../stores/accounts/seed.ts'
import type { Database } from '../../stores/database/database.ts'
import type { FirstAccounts, ServeOptions } from '../options.ts'

interface SeedFacts {
  readonly database: Database
  readonly hash: (password: string) => Promise<string>
  /** Whether the mode allows a terminal to show them. */
  readonly passwordsPrinted: boolean
}

/**
 * The first accounts of the embedded database. Their passwords go to a file, never to a log. A terminal
 * in mode dev prints them instead, once the gateway listens: until then the file has them, because a
 * start can still fail, and the next one creates no accounts.
 */
export async function seedFirst(
  { config, log, isTerminal = false }: ServeOptions,
  { database, hash, passwordsPrinted }: SeedFacts,
): Promise<FirstAccounts | undefined> {
  const file = firstPasswordsFile(config.application.dataDirectory)
  const seeded = await seedAccounts(database, hash, {
    keep: (accounts) => writeFirstPasswords(file, accounts),
  })
  if (seeded.length === 0) {
    if (existsSync(file)) {
      log.warn({ file }, 'the first passwords are still in this file: change them, then delete it')
    }
    return undefined
  }
  if (isTerminal && passwordsPrinted) return { seeded, unprintedFile: file }
  log.warn(
    { file, accounts: seeded.map(({ username }) => username) },
    'created the first accounts; their passwords are in this file: delete it after the first login',
  )
  return { seeded, passwordFile: file }
}
