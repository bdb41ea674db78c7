import { resolve } from 'node:path'
import type { Config } from '../../config/schema/schema.ts'
import { isMysqlUrl, readDatabaseUrl } from '../../kernel/database-url.ts'
import { Fault, Invalid } from '../../kernel/errors.ts'
import { readMysqlUrl } from '../../kernel/mysql-url.ts'
import { type Database, withFaults } from '../../stores/database/database.ts'
import { databaseClock } from '../../stores/database/database-clock.ts'
import { isOptionalTable, missingTables } from '../../stores/database/migrations.ts'
import { openDatabase } from '../../stores/database/open-database.ts'
import {
  isReadOnlyServer,
  mayCreateTables,
  missingRights,
} from '../../stores/database/table-rights.ts'
import { embeddedState } from '../../stores/embedded/embedded-database.ts'
import { ownerProblem } from '../../stores/files/directory-owner.ts'
import type { ClockSamples } from './clock.ts'
import { connectionFailure } from './connection-fix.ts'
import type { Report } from './run-checks.ts'

/** Whether the database answers, and has what a gateway needs. Creates nothing. */
export async function checkDatabase(
  report: Report,
  { application, database }: Config,
  cwd: string,
  clock: ClockSamples,
): Promise<void> {
  const directory = resolve(cwd, application.dataDirectory)
  const where = addressOf(database.url, directory)
  try {
    if (database.url === undefined && (await isClosed(report, directory))) return
    // The timeouts of the configuration are for requests; a person waits longer.
    const opened = await openDatabase({
      ...database,
      ...{ directory, mayHost: false, migrate: 'never', prepare: 'later', poolSize: 1 },
    })
    try {
      await checkServer(report, opened, where, clock)
      await checkTables(report.about('database tables'), opened, database.migrate)
    } finally {
      await opened.close()
    }
  } catch (error) {
    if (error instanceof Invalid) {
      return report.problem(error.message, 'correct database.url, or application.dataDirectory')
    }
    if (!(error instanceof Fault)) throw error
    const { reason, fix } = connectionFailure(error, {
      server: 'the database server',
      address: 'database.url',
      trust: 'add sslrootcert=FILE with the certificate of your authority to database.url',
    })
    report.problem(`${where}: ${reason}`, fixOf(reason) ?? fix)
  }
}

function fixOf(reason: string): string | undefined {
  if (/database ".*" does not exist|Unknown database/i.test(reason)) {
    return 'create the database, or correct its name in database.url'
  }
  const refused = /authentication|password|Access denied|no pg_hba|role ".*" does not exist/i
  if (!refused.test(reason)) return undefined
  return 'set user and password of the database in database.url (variable POSTERN_DATABASE__URL), and let the server accept that user from here'
}

/** An embedded database that no process has open is not opened: that would write to it. */
async function isClosed({ ok, problem }: Report, directory: string): Promise<boolean> {
  const state = await embeddedState(directory)
  if (state === 'open') return false
  const reason = await ownerProblem(directory, { mayCreate: true })
  if (reason !== undefined) problem(reason, 'run this command and the gateway as the same user')
  else if (state === 'absent') ok(`embedded: the first start creates it in ${directory}`)
  else ok(`embedded, in ${directory}; no process has it open, so its tables were not checked`)
  return true
}

/** Host and name alone: the rest of the URL may hold a password. */
function addressOf(url: string | undefined, directory: string): string {
  if (url === undefined) return `embedded, in ${directory}: the process that has it open`
  if (isMysqlUrl(url)) {
    const read = readMysqlUrl(url)
    return typeof read === 'string' ? 'database.url' : `${read.host}:${read.port}/${read.database}`
  }
  const read = readDatabaseUrl(url)
  if (typeof read === 'string') return 'database.url'
  const parsed = read.urls.map((one) => new URL(one))
  return `${parsed.map(({ host }) => host).join(', ')}${parsed[0]?.pathname ?? ''}`
}

async function checkServer(
  report: Report,
  database: Database,
  where: string,
  clock: ClockSamples,
): Promise<void> {
  const askedAt = Date.now()
  const theirs = (await databaseClock(database))()
  if (database.kind !== 'embedded') {
    clock.add({ source: 'the database', theirs, askedAt, answeredAt: Date.now(), stepMs: 0 })
  }
  report.ok(`${where} answers`)
  if (!(await isReadOnlyServer(database.db))) return
  const fix =
    'name the primary or several hosts in database.url: see docs/stores.md#postgresql-with-a-standby'
  report.problem('this server is read-only, and logins are written', fix)
}

const migrate = 'run "postern db migrate" as a user who may create tables'

async function checkTables(
  report: Report,
  database: Database,
  allowed: Config['database']['migrate'],
): Promise<void> {
  const { db } = database
  const missing = await withFaults(() => missingTables(db))
  const required = missing.filter((table) => !isOptionalTable(table))
  if (required.length > 0) return reportMissing(report, database, required, allowed)
  try {
    await database.shapes()
  } catch (error) {
    if (!(error instanceof Invalid)) throw error
    const fix = 'change the table so that it fits docs/table-columns.md, or use another database'
    for (const { message } of error.problems) report.problem(message, fix)
    return
  }
  const lacking = await missingRights(db)
  if (lacking.length > 0) {
    const fix = 'grant select, insert, update and delete on every table of docs/tables.md'
    report.problem(`the user lacks ${lacking.join(', ')}`, fix)
  }
  if (missing.length > 0) {
    const message = `missing: ${missing.join(', ')}`
    const canCreate = allowed === 'auto' && (await mayCreateTables(db)) === true
    if (canCreate) report.ok(`${message}; the next start creates them`)
    else report.warning(message, migrate)
  } else if (lacking.length === 0) report.ok('complete, and this user may use them')
}

async function reportMissing(
  { ok, warning, problem }: Report,
  { db }: Database,
  required: readonly string[],
  allowed: Config['database']['migrate'],
): Promise<void> {
  const message = `missing: ${required.join(', ')}`
  if (allowed === 'never') return problem(`${message}; database.migrate is never`, migrate)
  const mayCreate = await mayCreateTables(db)
  if (mayCreate === false) problem(`${message}; this user may not create them`, migrate)
  else if (mayCreate === true) ok(`${message}; the first start creates them`)
  else warning(`${message}; the first start creates them if this user may`, migrate)
}
