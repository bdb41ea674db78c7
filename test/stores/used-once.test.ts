import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '../../src/stores/database/database.ts'
import { nowMs } from '../../src/stores/database/dialect.ts'
import { createUsedOnce } from '../../src/stores/identities/used-once.ts'
import { type RunningDatabase, testDatabases } from './test-databases.ts'

const hour = 3_600_000

describe.each(testDatabases())('what counts once, in $name', ({ start }) => {
  let server: RunningDatabase
  let database: Database
  beforeAll(async () => {
    server = await start()
    database = await server.fresh()
  })
  afterAll(() => server.stop())

  async function names() {
    const { rows } = await sql<{ name: string; left: string }>`
      select name, until_ms - ${nowMs} as "left"
      from postern_used_once`.execute(database.db)
    return rows
  }

  test('is claimed by one of many gateways, and is stored as a digest', async () => {
    const gateways = [createUsedOnce(database), createUsedOnce(database)]

    const claims = await Promise.all(
      Array.from({ length: 10 }, (_, at) => gateways[at % 2]?.claim('state-1', Date.now() + hour)),
    )

    expect(claims.filter(Boolean)).toHaveLength(1)
    expect(await gateways[0]?.claim('state-2', Date.now() + hour)).toBe(true)
    const stored = await names()
    expect(stored).toHaveLength(2)
    expect(JSON.stringify(stored)).not.toContain('state-')
    expect(await gateways[1]?.claim(`state-1${'x'.repeat(5000)}\0`, Date.now() + hour)).toBe(true)
  })

  test('is kept as long as asked, by the clock of the database, and then forgotten', async () => {
    // A gateway whose clock is a day behind.
    const late = createUsedOnce(database, { now: () => Date.now() - 24 * hour })
    await late.claim('kept', Date.now() - 23 * hour)
    const left = (await names()).map((row) => Number(row.left))
    expect(Math.max(...left)).toBeGreaterThan(hour)

    await sql`update postern_used_once set until_ms = 1`.execute(database.db)
    // An expired name that is still there is not free: two gateways may differ about that.
    expect(await late.claim('kept', Date.now())).toBe(false)
    expect(await late.claim('next', Date.now() + hour)).toBe(true)
    expect(await names()).toHaveLength(1)
  })

  test('needs its table', async () => {
    const shapes = async () => ({ ...(await database.shapes()), optional: new Set<never>() })
    const usedOnce = createUsedOnce({ ...database, shapes })

    await expect(usedOnce.claim('a', Date.now())).rejects.toMatchObject({
      part: 'database',
    })
  })
})
