import { resolve } from 'node:path'
import type { Config } from '../../config/schema/schema.ts'
import { isMysqlUrl, readDatabaseUrl } from '../../kernel/database-url.ts'
import { Fault, Invalid } from '../../kernel/errors.ts'
import { readMysqlUrl } from '../../kernel/mysql-url.ts'
import { type Database, openDatabase } from '../../stores/database/database.ts'
import { databaseClock } from '../../stores/database/database-clock.ts'
import { withFaults } from '../../stores/database/database-fault.ts'
import { isOptionalTable, missingTables } from '../../stores/database/migrations.ts'
import {
  isReadOnlyServer,
  mayCreateTables,
  missingRights,
} from '../../stores/database/table-rights.ts'
import { embeddedState } from '../../stores/embedded/embedded-database.ts'
import { ownerProblem } from '../../stores/files/directory-owner.ts'
import type { ClockSamples } from './clock.ts'
import { connectionFailure } from './connection-fix.ts'
import { type Finding, ok, problem, warning } from './finding.ts'

const name = 'database'

/** Whether the database answers, and has what a gateway needs. Creates nothing. */
export async function checkDatabase(
  { application, database }: Config,
  cwd: string,
  clock: ClockSamples,
): Promise<readonly Finding[]> {
  const directory = resolve(cwd, application.dataDirectory)
  try {
    if (database.url === undefined) {
      const closed = await closedEmbedded(directory)
      if (closed !== undefined) return [closed]
    }
    // Its timeouts are for requests; a person waits longer.
    const opened = await openDatabase({
      ...database,
      ...{ directory, mayHost: false, migrate: 'never', prepare: 'later', poolSize: 1 },
    })
    try {
      return await databaseFindings(
        opened,
        { where: addressOf(database.url, directory), clock },
        database.migrate,
      )
    } finally {
      await opened.close()
    }
  } catch (error) {
    if (error instanceof Invalid) {
      return [problem(name, error.message, 'correct database.url, or application.dataDirectory')]
    }
    if (!(error instanceof Fault)) throw error
    return [unreachable(error, addressOf(database.url, directory))]
  }
}

/** An embedded database that no process has open is not opened: that would write to it. */
async function closedEmbedded(directory: string): Promise<Finding | undefined> {
  const state = await embeddedState(directory)
  if (state === 'open') return undefined
  const reason = await ownerProblem(directory, { mayCreate: true })
  if (reason !== undefined) {
    return problem(name, reason, 'run this command and the gateway as the same user')
  }
  return state === 'absent'
    ? ok(name, `embedded: the first start creates it in ${directory}`)
    : ok(name, `embedded, in ${directory}; no process has it open, so its tables were not checked`)
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

function unreachable(error: Fault, where: string): Finding {
  const { reason, fix } = connectionFailure(error, {
    server: 'the database server',
    address: 'database.url',
    trust: 'add sslrootcert=FILE with the certificate of your authority to database.url',
  })
  const isRefused =
    /authentication|password|Access denied|no pg_hba|role ".*" does not exist/i.test(reason)
  const isAbsent = /database ".*" does not exist|Unknown database/i.test(reason)
  return problem(
    name,
    `${where}: ${reason}`,
    isAbsent
      ? 'create the database, or correct its name in database.url'
      : isRefused
        ? 'set user and password of the database in database.url (variable POSTERN_DATABASE__URL), and let the server accept that user from here'
        : fix,
  )
}

async function databaseFindings(
  database: Database,
  { where, clock }: { readonly where: string; readonly clock: ClockSamples },
  allowed: Config['database']['migrate'],
): Promise<readonly Finding[]> {
  const { db } = database
  const askedAt = Date.now()
  const theirs = (await databaseClock(database))()
  if (database.kind !== 'embedded') {
    clock.add({ source: 'the database', theirs, askedAt, answeredAt: Date.now(), stepMs: 0 })
  }
  const findings = [ok(name, `${where} answers`)]
  if (await isReadOnlyServer(db)) {
    const fix =
      'name the primary in database.url, or several hosts with target_session_attrs=read-write'
    findings.push(problem(name, 'this server is read-only, and logins are written', fix))
  }
  const missing = await withFaults(() => missingTables(db))
  const required = missing.filter((table) => !isOptionalTable(table))
  if (required.length > 0) {
    return [...findings, await missingFinding(database, required, allowed)]
  }
  const check = 'database tables'
  try {
    await database.shapes()
  } catch (error) {
    if (!(error instanceof Invalid)) throw error
    const fix = 'change the table so that it fits docs/tables.md, or use another database'
    return [...findings, ...error.problems.map(({ message }) => problem(check, message, fix))]
  }
  const lacking = await missingRights(db)
  if (lacking.length > 0) {
    const fix = 'grant select, insert, update and delete on every table of docs/tables.md'
    findings.push(problem(check, `the user lacks ${lacking.join(', ')}`, fix))
  }
  if (missing.length > 0) {
    const canCreate = allowed === 'auto' && (await mayCreateTables(db)) === true
    const message = `missing: ${missing.join(', ')}`
    findings.push(
      canCreate
        ? ok(check, `${message}; the next start creates them`)
        : warning(check, message, 'run "postern db migrate" as a user who may create tables'),
    )
  } else if (lacking.length === 0) findings.push(ok(check, 'complete, and this user may use them'))
  return findings
}

async function missingFinding(
  { db }: Database,
  required: readonly string[],
  allowed: Config['database']['migrate'],
): Promise<Finding> {
  const check = 'database tables'
  const message = `missing: ${required.join(', ')}`
  const fix = 'run "postern db migrate" as a user who may create tables'
  if (allowed === 'never') return problem(check, `${message}; database.migrate is never`, fix)
  const mayCreate = await mayCreateTables(db)
  if (mayCreate === false) return problem(check, `${message}; this user may not create them`, fix)
  return mayCreate === true
    ? ok(check, `${message}; the first start creates them`)
    : warning(check, `${message}; the first start creates them if this user may`, fix)
}
