import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import type { TestProject } from 'vitest/node'
import { createPasswordHash } from '../../src/login/password-hash.ts'
import { seedAccounts } from '../../src/stores/accounts/seed.ts'
import { openDatabase } from '../../src/stores/database/open-database.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** A data directory whose seeded embedded database is open in the main process. */
    sharedData: string
    /** The same, closed, to be copied by whoever needs a database for itself. */
    databaseTemplate: string
    passwords: Record<string, string>
  }
}

/**
 * The first start of PGlite takes seconds: it happens once per run. Most gateways under test ask
 * this one database over its socket, as a second process would; some copy it.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const root = await mkdtemp(join(tmpdir(), 'postern-data-'))
  const [template, shared] = [join(root, 'template'), join(root, 'shared')]

  const first = await open(template)
  const passwordHash = createPasswordHash({ concurrency: 2, queue: 10 })
  const seeded = await seedAccounts(first, passwordHash.hash)
  await first.close()
  await cp(template, shared, { recursive: true })
  const database = await open(shared)
  // Callers that tests make up have IDs below this, and must not get an account by accident.
  await sql`alter sequence sys_user_user_id_seq restart with 100000`.execute(database.db)

  project.provide('databaseTemplate', template)
  project.provide('sharedData', shared)
  project.provide(
    'passwords',
    Object.fromEntries(seeded.map(({ username, password }) => [username, password])),
  )
  return async () => {
    await database.close()
    await rm(root, { recursive: true, force: true })
  }
}

function open(directory: string) {
  return openDatabase({
    directory,
    poolSize: 1,
    connectTimeoutMs: 60_000,
    statementTimeoutMs: 60_000,
  })
}
