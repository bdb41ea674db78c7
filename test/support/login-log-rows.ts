import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { openDatabase } from '../../src/stores/database/open-database.ts'
import type { TestPostern } from './start-postern.ts'

interface LoginLogRow {
  readonly username: string
  readonly status: string
  readonly msg: string
  readonly ipaddr: string
  readonly remark: string
}

/**
 * The login log once it has `expected` rows and then keeps still: records are written after the
 * answer, so a reader has to wait for them, and a surplus one would come late as well.
 */
export async function loginLogRows(postern: TestPostern, expected: number): Promise<LoginLogRow[]> {
  const database = await openDatabase({
    directory: postern.dataDirectory,
    poolSize: 1,
    connectTimeoutMs: 5000,
    statementTimeoutMs: 5000,
  })
  async function read() {
    const { rows } = await sql<LoginLogRow>`select * from sys_login_log order by id`.execute(
      database.db,
    )
    return rows
  }

  try {
    for (let turn = 0; turn < 100 && (await read()).length < expected; turn++) await pause(50)
    await pause(100)
    return await read()
  } finally {
    await database.close()
  }
}
