import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { inject } from 'vitest'
import { createPasswordHash } from '../../src/login/password-hash.ts'
import { seedAccounts } from '../../src/stores/accounts/seed.ts'
import type { Database } from '../../src/stores/database/database.ts'
import { openDatabase } from '../../src/stores/database/open-database.ts'
import type { MariadbServer } from './mariadb-server.ts'

const limits = { poolSize: 1, connectTimeoutMs: 5000, statementTimeoutMs: 10_000 }

let mysql: MariadbServer | undefined
let databases = 0
let shared: Promise<string> | undefined

/** Lets the suites of this file that have a seeded embedded database have one of this server instead. */
export function seedOn(server: MariadbServer): void {
  mysql = server
}

/** The address of a seeded database of that server, if one is in use: a new one, or that of all others. */
export async function serverUrl(which: 'own' | 'shared'): Promise<string | undefined> {
  if (mysql === undefined) return undefined
  if (which === 'own') return seededUrl(mysql)
  shared ??= seededUrl(mysql)
  return shared
}

/**
 * A seeded database that is open, as a gateway has it, and the settings with which commands in this
 * directory find it. An embedded one works for commands as long as it is open.
 */
export async function seededDatabase(
  directory: string,
): Promise<{ readonly database: Database; readonly settings: string }> {
  if (mysql !== undefined) {
    const url = await seededUrl(mysql)
    const database = await openDatabase({ url, directory: '', ...limits })
    return { database, settings: `database: { url: '${url}', statementTimeoutMs: 10000 }\n` }
  }
  await cp(inject('databaseTemplate'), join(directory, 'data'), { recursive: true })
  const database = await openDatabase({ directory: join(directory, 'data'), ...limits })
  return { database, settings: '' }
}

async function seededUrl(server: MariadbServer): Promise<string> {
  const name = `seeded_${databases++}`
  await server.query(`create database ${name}`)
  const database = await openDatabase({ url: server.urlOf(name), directory: '', ...limits })
  const passwords = Object.values(inject('passwords'))
  const { hash } = createPasswordHash({ concurrency: 2, queue: 10 })
  await seedAccounts(database, hash, { makePassword: () => passwords.shift() ?? '' })
  await database.close()
  return server.urlOf(name)
}
