import { sql } from 'kysely'
import type { LoginRecord } from '../login/login-record.ts'
import type { Database } from './database.ts'
import { withFaults } from './database-fault.ts'
import { toStorable } from './storable-text.ts'

/** How long an attempt id is remembered, and so how late a record may come twice. */
const rememberedDays = 7
const mostForgottenAtOnce = 1000

/** Writes login records to go-admin's `sys_login_log`. */
export function createLoginLogTable({ db, shapes }: Database) {
  /**
   * Inserts the records in their order, each attempt id once, whoever brings it and however often.
   * All or nothing: one statement. Hostile texts are made to fit.
   */
  async function insert(records: readonly LoginRecord[]): Promise<void> {
    if (records.length === 0) return
    await withFaults(async () => {
      await shapes()
      await insertOnce(JSON.stringify(records.map(toRow))).execute(db)
    })
  }

  return { insert }
}

function toRow(record: LoginRecord, place: number) {
  return {
    place,
    attempt_id: record.attemptId,
    username: toStorable(record.username, 128),
    status: record.status,
    ipaddr: toStorable(record.address, 255),
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
        place int, attempt_id uuid, username text, status text, ipaddr text, remark text,
        msg text, login_time timestamptz)
      order by attempt_id, place
    ), fresh as (
      insert into postern_login_attempt (attempt_id)
      select attempt_id from incoming order by attempt_id
      on conflict do nothing
      returning attempt_id
    ), forgotten as (
      delete from postern_login_attempt where attempt_id in (
        select attempt_id from postern_login_attempt
        where recorded_at < now() - make_interval(days => ${rememberedDays}::int)
        order by recorded_at limit ${mostForgottenAtOnce}::int
        for update skip locked)
    )
    insert into sys_login_log (
      username, status, ipaddr, login_location, browser, os, platform, login_time, remark, msg,
      created_at, updated_at, create_by, update_by)
    select
      username, status, ipaddr, '', '', '', '', login_time, remark, msg,
      now(), now(), 0, 0
    from incoming join fresh using (attempt_id)
    order by place`
}
