import { type CompiledQuery, sql } from 'kysely'
import { readUserAgent } from '../../kernel/user-agent.ts'
import type { LoginRecord, WrittenBatch } from '../../login/login-record.ts'
import { backendOf } from '../database/backend.ts'
import {
  type Database,
  type Db,
  inTransaction,
  refusedContent,
  withFaults,
} from '../database/database.ts'
import { before, listOf, lockUntilCommit, now, tableOf, toStorable } from '../database/dialect.ts'
import { insertRows } from '../database/insert-rows.ts'

/** Writes login records to go-admin's `sys_login_log`. */
export function createLoginLogTable(database: Database) {
  /**
   * Inserts the records in their order, each attempt id once, however often it arrives.
   * Hostile texts are made to fit. What the table refuses all the same is found by halving the
   * batch, and does not block other records.
   */
  async function insert(records: readonly LoginRecord[]): Promise<WrittenBatch> {
    const [record] = records
    if (record === undefined) return nothing
    try {
      return { written: await insertNew(database, records.map(toRow)), refused: [] }
    } catch (error) {
      const code = refusedContent(error)
      if (code === undefined) throw error
      if (records.length === 1) return { written: 0, refused: [{ record, reason: code }] }
    }
    const middle = Math.ceil(records.length / 2)
    const first = await insert(records.slice(0, middle))
    const second = await insert(records.slice(middle))
    return {
      written: first.written + second.written,
      refused: [...first.refused, ...second.refused],
    }
  }

  return { insert }
}

const nothing: WrittenBatch = { written: 0, refused: [] }

function toRow(record: LoginRecord, place: number): LoginLogRow {
  const { browser, os, platform } = readUserAgent(record.userAgent)
  return {
    place,
    attempt_id: record.attemptId,
    username: toStorable(record.username, 128),
    status: record.status,
    ipaddr: toStorable(record.address, 255),
    browser: toStorable(browser, 255),
    os: toStorable(os, 255),
    platform: toStorable(platform, 255),
    remark: toStorable(record.userAgent, 255),
    msg: toStorable(record.message, 255),
    login_time: record.at,
  }
}

const columns = {
  place: 'int',
  attempt_id: 'uuid',
  username: 'text',
  status: 'text',
  ipaddr: 'text',
  browser: 'text',
  os: 'text',
  platform: 'text',
  remark: 'text',
  msg: 'text',
  login_time: 'timestamptz',
} as const

type LoginLogRow = Readonly<Record<keyof typeof columns, unknown>> & {
  readonly attempt_id: string
}

/** How long an attempt id is remembered, and so how late a record may come twice. */
const retentionMs = 7 * 86_400_000
const maxDeletedAtOnce = 1000

/**
 * Inserts the rows whose attempt ID is new, in their order, and returns how many those are. The IDs are
 * kept in a table of our own, since go-admin's has no column for them, and old ones are forgotten on the
 * way. All or nothing.
 */
function insertNew(database: Database, records: readonly LoginLogRow[]): Promise<number> {
  const { db, shapes } = database
  const first = new Map(records.toReversed().map((row) => [row.attempt_id.toLowerCase(), row]))
  if (!backendOf(db).returnsRows) return inSteps(database, first)
  return withFaults(async () => {
    await shapes()
    return inOneStatement(db, first)
  })
}

type RowsById = ReadonlyMap<string, LoginLogRow>

const copied = [
  ...(['username', 'status', 'ipaddr', 'browser', 'os', 'platform', 'remark', 'msg'] as const),
  'login_time',
] as const
const names = ['login_location', 'create_by', 'update_by', 'created_at', 'updated_at'] as const
/** What go-admin writes into the others. */
const filled = [
  sql.lit('').as('login_location'),
  sql.lit(0).as('create_by'),
  sql.lit(0).as('update_by'),
  now.as('created_at'),
  now.as('updated_at'),
] as const

/** Compiled once for each database: that takes four times as long as the rest of a login's record. */
const compiled = new WeakMap<Db, CompiledQuery>()

async function inOneStatement(db: Db, rows: RowsById): Promise<number> {
  const query = compiled.get(db) ?? oneStatement(db).compile()
  compiled.set(db, query)
  const [, ...others] = query.parameters
  const parameters = [JSON.stringify([...rows.values()]), ...others]
  const { numAffectedRows = 0n } = await db.executeQuery({ ...query, parameters })
  return Number(numAffectedRows)
}

/**
 * The first parameter of the statement is the rows. In the order of the IDs, so that two writers of the same batch cannot
 * block each other.
 */
function oneStatement(db: Db) {
  return db
    .with('incoming', (inner) => inner.selectFrom(tableOf('record', columns, [])).selectAll())
    .with('fresh', (inner) =>
      inner
        .insertInto('postern_login_attempt')
        .columns(['attempt_id'])
        .expression(inner.selectFrom('incoming').select('attempt_id').orderBy('attempt_id'))
        .onConflict((conflict) => conflict.doNothing())
        .returning('attempt_id'),
    )
    .with('forgotten', () => forgetOld(db))
    .insertInto('sys_login_log')
    .columns([...copied, ...names])
    .expression(({ selectFrom }) =>
      selectFrom('incoming')
        .innerJoin('fresh', 'fresh.attempt_id', 'incoming.attempt_id')
        .select([...copied, ...filled])
        .orderBy('place'),
    )
}

/**
 * For a database that returns no rows from an insert: the IDs are read first, and of two writers of the
 * same batch the second waits.
 */
function inSteps(database: Database, rows: RowsById): Promise<number> {
  const ids = [...rows.keys()]
  return inTransaction(database, async (inside) => {
    await lockUntilCommit('postern_login_attempt').execute(inside)
    const known = inside.selectFrom('postern_login_attempt').select('attempt_id')
    const rowsThere = await known.where('attempt_id', 'in', listOf(ids)).execute()
    const present = new Set(rowsThere.map(({ attempt_id: id }) => id))
    const fresh = ids.filter((id) => !present.has(id)).flatMap((id) => rows.get(id) ?? [])
    if (fresh.length > 0) {
      const attempts = fresh.map(({ attempt_id }) => ({ attempt_id }))
      await insertRows(inside, 'postern_login_attempt', attempts)
      await inside
        .insertInto('sys_login_log')
        .columns([...copied, ...names])
        .expression(({ selectFrom }) =>
          selectFrom(tableOf('incoming', columns, fresh))
            .select([...copied, ...filled])
            .orderBy('place'),
        )
        .execute()
    }
    await forgetOld(inside).execute()
    return fresh.length
  })
}

function forgetOld(db: Db) {
  const known = db.selectFrom('postern_login_attempt').select('attempt_id')
  const old = known.where('recorded_at', '<', before(now, retentionMs)).orderBy('recorded_at')
  const locked = old.limit(maxDeletedAtOnce).forUpdate().skipLocked()
  const ids = db.selectFrom(locked.as('old')).select('attempt_id')
  return db.deleteFrom('postern_login_attempt').where('attempt_id', 'in', ids)
}
