import { readUserAgent } from '../../kernel/user-agent.ts'
import type { LoginRecord, WrittenBatch } from '../../login/login-record.ts'
import type { Database } from '../database/database.ts'
import { refusedContent, withFaults } from '../database/database-fault.ts'
import { toStorable } from '../database/storable-text.ts'
import { insertNew, type LoginLogRow } from './insert-new.ts'

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
      return insertNew(db, records.map(toRow))
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
