import { sql } from 'kysely'
import type { LoginRecord, WrittenBatch } from '../../login/login-record.ts'
import type { Database } from '../database/database.ts'
import { refusedContent, withFaults } from '../database/database-fault.ts'
import { isMysql } from '../database/dialect.ts'
import { toStorable } from '../database/storable-text.ts'
import { insertOnMysql, type LoginLogRow } from './mysql-login-log.ts'
import { readUserAgent } from './user-agent.ts'

/** How long an attempt id is remembered, and so how late a record may come twice. */
const retentionDays = 7
const maxDeletedAtOnce = 1000

/** Writes login records to go-admin's `sys_login_log`. */
export function createLoginLogTable({ db, shapes }: Database) {
  /**
   * Inserts the records in their order, each attempt id once, however often it arrives.
   * Hostile texts are made to fit. What the table refuses all the same is found by halving the
   * batch, and does not block other records.
   */
  async function insert(records: readonly LoginRecord[]): Promise<WrittenBatch> {
    const [record] = records
    if (record === undefined) return nothing
    try {
      return { written: await insertAll(records), refused: [] }
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

  /** All or nothing. Returns how many rows are new. */
  function insertAll(records: readonly LoginRecord[]): Promise<number> {
    return withFaults(async () => {
      await shapes()
      const rows = records.map(toRow)
      if (isMysql(db)) return insertOnMysql(db, rows)
      const result = await insertOnce(JSON.stringify(rows)).execute(db)
      return Number(result.numAffectedRows ?? 0)
    })
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

/**
 * The ids are kept in a table of our own, since go-admin's has no column for them. They are
 * inserted in the order of the ids, so that two writers of the same batch cannot block each other,
 * and old ones are forgotten on the way.
 */
function insertOnce(records: string) {
  return sql`
    with incoming as (
      select distinct on (attempt_id) *
      from json_to_recordset(${records}::json) as record (
        place int, attempt_id uuid, username text, status text, ipaddr text, browser text,
        os text, platform text, remark text, msg text, login_time timestamptz)
      order by attempt_id, place
    ), fresh as (
      insert into postern_login_attempt (attempt_id)
      select attempt_id from incoming order by attempt_id
      on conflict do nothing
      returning attempt_id
    ), forgotten as (
      delete from postern_login_attempt where attempt_id in (
        select attempt_id from postern_login_attempt
        where recorded_at < now() - make_interval(days => ${retentionDays}::int)
        order by recorded_at limit ${maxDeletedAtOnce}::int
        for update skip locked)
    )
    insert into sys_login_log (
      username, status, ipaddr, login_location, browser, os, platform, login_time, remark, msg,
      created_at, updated_at, create_by, update_by)
    select
      username, status, ipaddr, '', browser, os, platform, login_time, remark, msg,
      now(), now(), 0, 0
    from incoming join fresh using (attempt_id)
    order by place`
}
