import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Database } from '../../src/stores/database/database.ts'
import { tableOf } from '../../src/stores/database/dialect.ts'
import { createProviderSessions } from '../../src/stores/identities/provider-sessions.ts'
import { type RunningDatabase, testDatabases } from './test-databases.ts'

const now = Date.now()
const row = {
  ...{ tokenId: 't-1', userId: '9007199254740993', provider: 'corp', subject: 'ann' },
  ...{ issuedAt: now, expiresAt: now + 3_600_000, session: 's-1', sealed: 'x'.repeat(5000) },
}

describe.each(testDatabases())('sessions at providers in $name', ({ start }) => {
  let server: RunningDatabase
  let database: Database
  beforeAll(async () => {
    server = await start()
    database = await server.fresh()
  })
  afterAll(() => server.stop())
  beforeEach(() => sql`delete from postern_provider_session`.execute(database.db))

  const warnings: unknown[] = []
  const log = { info: () => {}, warn: (...line: unknown[]) => void warnings.push(line) }
  const sessions = () => createProviderSessions(database, { log, timeoutMs: 10_000 })
  const named = { provider: 'corp', subject: undefined, session: undefined }
  const idsOf = async (query: Partial<Parameters<ReturnType<typeof sessions>['tokensOf']>[0]>) =>
    (await sessions().tokensOf({ ...named, ...query })).map(({ id }) => id).toSorted()

  test('are found by token, by session and by person', async () => {
    const { remember, find, tokensOf } = sessions()
    await remember(row)
    await remember({ ...row, sealed: 'other', session: 's-9' })
    await remember({ ...row, tokenId: 't-2', session: undefined, sealed: undefined })

    expect(await find('t-1')).toEqual({ provider: 'corp', sealed: row.sealed })
    expect(await find('t-2')).toEqual({ provider: 'corp', sealed: null })
    expect(await find('t-3')).toBeUndefined()
    expect(await tokensOf({ ...named, session: 's-1' })).toEqual([
      {
        ...{ kind: 'token', id: 't-1', userId: row.userId },
        ...{ issuedAt: row.issuedAt, until: row.expiresAt },
      },
    ])
    expect(await idsOf({ subject: 'ann' })).toEqual(['t-1', 't-2'])
    expect(await idsOf({ subject: 'ann', session: 's-1' })).toEqual(['t-1'])
    expect(await idsOf({ subject: 'bob', session: 's-1' })).toEqual([])
    expect(warnings).toEqual([])
  })

  test('are never those of a name that is only similar', async () => {
    await sessions().remember(row)

    const similar = ['Ann', 'ánn', 'ann ', 'ann\u200b', 'ａnn', 'ann\0', '%', '']
    for (const subject of similar) expect(await idsOf({ subject })).toEqual([])
    for (const session of ['S-1', 's-1 ', '']) expect(await idsOf({ session })).toEqual([])
    expect(await idsOf({ provider: 'Corp', subject: 'ann' })).toEqual([])
    expect(await sessions().find('T-1')).toBeUndefined()
  })

  test('expire, and are bounded for each person', async () => {
    const many = Array.from({ length: 1005 }, (_, at) => ({ id: `m-${at}`, at: now - 10_000 + at }))
    await sql`insert into postern_provider_session
      (token_id, user_id, issued_ms, provider, subject, expires_ms)
      select id, '1', at, 'corp', 'ann', ${row.expiresAt}
      from ${tableOf('many', { id: 'text', at: 'bigint' }, many)}`.execute(database.db)
    await sessions().remember({ ...row, tokenId: 'old', subject: 'bob', expiresAt: now - 1 })
    expect(await idsOf({ subject: 'bob' })).toEqual([])

    await sessions().remember(row)

    const ids = await idsOf({ subject: 'ann' })
    expect([ids.length, ids.includes('t-1'), ids.includes('m-5')]).toEqual([1000, true, false])
    expect(ids).toContain('m-6')
    expect(await sessions().find('old')).toBeUndefined()
  })
})
