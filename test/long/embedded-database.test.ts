import { copyFile, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { createConnection, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { createAccounts } from '../../src/stores/accounts/accounts.ts'
import type { Database } from '../../src/stores/database/database.ts'
import { openDatabase } from '../../src/stores/database/open-database.ts'
import { onFrames, sendFrame, type WireReply } from '../../src/stores/embedded/embedded-wire.ts'
import { takeLock } from '../../src/stores/files/directory-lock.ts'
import { otherProcess } from '../stores/other-process.ts'
import { copiedDirectory, limits } from '../stores/test-databases.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'

async function directoryOfTest(): Promise<string> {
  const directory = await copiedDirectory()
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  return directory
}

async function open(directory: string, changes: Partial<typeof limits> = {}): Promise<Database> {
  const database = await openDatabase({ directory, ...limits, ...changes })
  onTestFinished(() => database.close())
  return database
}

async function rows({ db }: Database, query: string): Promise<unknown> {
  return (await sql.raw(query).execute(db)).rows
}

const note = 'create table note (text text)'
const notes = 'select text from note order by text'

describe('an embedded database that another process has open', () => {
  test('is used through that process, in both directions', async () => {
    const directory = await directoryOfTest()
    const other = await otherProcess(directory)
    await other.run(note)
    await other.run(`insert into note values ('theirs')`)

    const database = await open(directory)
    await rows(database, `insert into note values ('ours')`)

    expect(await rows(database, notes)).toEqual([{ text: 'ours' }, { text: 'theirs' }])
    expect(await other.run(notes)).toEqual([{ text: 'ours' }, { text: 'theirs' }])
    expect(await createAccounts(database).findByUsername('admin')).toMatchObject({ enabled: true })
  })

  test('is opened anew when that process was killed and left its socket behind', async () => {
    const directory = await directoryOfTest()
    const other = await otherProcess(directory)
    await other.run(note)
    await other.run(`insert into note values ('kept')`)
    other.kill('SIGKILL')
    await other.ended
    expect(await readdir(directory)).toContain('database.sock')

    const database = await open(directory)

    expect(await rows(database, notes)).toEqual([{ text: 'kept' }])
  })

  test('is taken over when that process ends, without being opened again by hand', async () => {
    const directory = await directoryOfTest()
    const other = await otherProcess(directory)
    const database = await open(directory)
    await rows(database, note)

    await other.close()
    await rows(database, `insert into note values ('after')`)

    const third = await otherProcess(directory)
    expect(await third.run(notes)).toEqual([{ text: 'after' }])
  })

  test('is opened by one of several that start at the same moment', async () => {
    const directory = await directoryOfTest()

    const others = await Promise.all([1, 2, 3].map(() => otherProcess(directory)))
    await others[0]?.run(note)
    await Promise.all(others.map((other, at) => other.run(`insert into note values ('${at}')`)))

    const expected = [{ text: '0' }, { text: '1' }, { text: '2' }]
    for (const other of others) expect(await other.run(notes)).toEqual(expected)
  })

  test('is a fault, not a wait for ever, when that process does not answer', async () => {
    const directory = await directoryOfTest()
    const other = await otherProcess(directory)
    const database = await open(directory, { statementTimeoutMs: 2000 })

    other.kill('SIGSTOP')

    await expect(createAccounts(database).findByUsername('admin')).rejects.toMatchObject({
      name: 'Fault',
      part: 'database',
    })
    other.kill('SIGCONT')
    const found = () => createAccounts(database).findByUsername('admin')
    await expect.poll(found).toMatchObject({ enabled: true })
  })

  test('forgets the transaction of a process that is killed within it', async () => {
    const directory = await directoryOfTest()
    const database = await open(directory)
    await rows(database, note)
    const socket = createConnection(join(directory, 'database.sock'))
    const replies: unknown[] = []
    onFrames(socket, (frame) => replies.push(frame))
    sendFrame(socket, { op: 'begin' })
    sendFrame(socket, { op: 'query', sql: `insert into note values ('lost')`, params: [] })
    await expect.poll(() => replies).toHaveLength(2)

    socket.destroy()

    expect(await rows(database, notes)).toEqual([])
  })

  test('survives a connection that sends what is not ours', async () => {
    const directory = await directoryOfTest()
    const database = await open(directory)
    const socket = createConnection(join(directory, 'database.sock'))
    const closed = new Promise((resolve) => socket.on('close', resolve))

    socket.write('GET / HTTP/1.1\r\n\r\n')

    await closed
    expect(await rows(database, 'select 1 as one')).toEqual([{ one: 1 }])
  })
})

describe.each([
  ['opened by this process', 1],
  ['shared with another one', 2],
])('an embedded database %s', (_, times) => {
  let directory: string
  const databases: Database[] = []
  let database: Database

  beforeAll(async () => {
    directory = await copiedDirectory()
    for (let turn = 0; turn < times; turn++) {
      databases.push(await openDatabase({ directory, ...limits }))
    }
    database = databases.at(-1) as Database
  })
  afterAll(async () => {
    for (const opened of databases.splice(0).reverse()) await opened.close()
    await rm(directory, { recursive: true, force: true })
  })
  beforeEach(() => rows(database, 'drop table if exists note'))

  test('gives values back in their types', async () => {
    const { db } = database
    const at = new Date('2026-03-04T05:06:07.089Z')
    const bytes = Buffer.from([0, 1, 254, 255])

    const result = await sql`
      select 9007199254740993::bigint as large, 7::int as small, ${at}::timestamptz as at,
             ${bytes}::bytea as bytes, null as nothing, true as yes, 'NaN'::float8 as odd,
             array[1::bigint, 2] as list, '{"a":["date",1]}'::json as json,
             ${'a\u2028\n"🦊'}::text as text`.execute(db)

    const [row] = result.rows as Record<string, unknown>[]
    expect({ ...row, bytes: Buffer.from(row?.['bytes'] as Uint8Array) }).toEqual({
      ...{ large: '9007199254740993', small: 7, at, bytes, nothing: null, yes: true },
      ...{ odd: Number.NaN, list: ['1', '2'], json: { a: ['date', 1] }, text: 'a\u2028\n"🦊' },
    })
  })

  test('says how many rows changed, and which error it was', async () => {
    const { db } = database

    const changed = await db.updateTable('sys_user').set({ status: '1' }).executeTakeFirst()

    expect(changed.numUpdatedRows).toBe(2n)
    await expect(sql`select * from nothing`.execute(db)).rejects.toMatchObject({ code: '42P01' })
  })

  test('keeps a transaction apart from what else is asked meanwhile', async () => {
    await rows(database, note)

    const rolledBack = database.db.transaction().execute(async (inside) => {
      await sql`insert into note values ('inside')`.execute(inside)
      await new Promise((resolve) => setTimeout(resolve, 50))
      throw new Error('changed my mind')
    })
    const beside = rows(database, `insert into note values ('beside')`)

    await expect(rolledBack).rejects.toThrow('changed my mind')
    await beside
    expect(await rows(database, notes)).toEqual([{ text: 'beside' }])
  })

  test('keeps what a transaction committed', async () => {
    await database.db.transaction().execute(async (inside) => {
      await sql.raw(note).execute(inside)
      await sql`insert into note values ('inside')`.execute(inside)
    })

    expect(await rows(database, notes)).toEqual([{ text: 'inside' }])
  })
})

describe('a gateway without an embedded database', () => {
  test('logs that it creates one, and says nothing when it exists', async () => {
    const parent = await mkdtemp(join(tmpdir(), 'postern-'))
    onTestFinished(() => rm(parent, { recursive: true, force: true }))
    await mkdir(join(parent, 'policies'))
    for (const name of ['model.conf', 'policy.csv']) {
      await copyFile(join('policies', name), join(parent, 'policies', name))
    }
    const config = {
      application: { mode: 'dev', port: 0, dataDirectory: 'data' },
      ops: { port: 0 },
      policy: { directory: 'policies' },
    }
    const start = async () => {
      const gateway = await startGatewayProcess(join(parent, 'postern.yaml'), config)
      await gateway.stop()
      return gateway.log.filter(({ msg }) => msg === 'creating the embedded database')
    }

    const [first, second] = [await start(), await start()]

    expect(first).toEqual([expect.objectContaining({ directory: expect.stringMatching(/data$/) })])
    expect(second).toEqual([])
  })
})

describe('the directory of an embedded database', () => {
  test('is for its owner only, and so are the socket and the files', async () => {
    const parent = await mkdtemp(join(tmpdir(), 'postern-'))
    onTestFinished(() => rm(parent, { recursive: true, force: true }))
    const directory = join(parent, 'data')

    await open(directory)

    const mode = async (name: string) => (await stat(join(directory, name))).mode & 0o777
    expect(await mode('.')).toBe(0o700)
    expect(await mode('database')).toBe(0o700)
    expect(await mode('database.sock')).toBe(0o600)
    expect(await mode('database.lock')).toBe(0o600)
    expect((await readdir(directory)).sort()).toEqual([
      'database',
      'database.lock',
      'database.sock',
    ])
  })

  test('holds no socket once the database is closed, and is not asked again', async () => {
    const directory = await directoryOfTest()
    const database = await openDatabase({ directory, ...limits })

    await database.close()

    expect(await readdir(directory)).not.toContain('database.sock')
    await expect(createAccounts(database).findByUsername('admin')).rejects.toThrow()
  })

  test('is refused, with what to do, when its name is too long for a socket', async () => {
    const directory = join(await directoryOfTest(), 'x'.repeat(120))

    const refused = await openDatabase({ directory, ...limits }).catch((error: unknown) => error)

    expect(refused).toMatchObject({ name: 'Invalid' })
    expect((refused as Error).message).toMatch(/too long.*use a shorter path/)
  })

  test('is a fault, with its name, when what lies in it is no database', async () => {
    const directory = await directoryOfTest()
    await rm(join(directory, 'database'), { recursive: true })
    await mkdir(join(directory, 'database'))
    await writeFile(join(directory, 'database', 'PG_VERSION'), 'not a version')

    await expect(openDatabase({ directory, ...limits })).rejects.toMatchObject({
      name: 'Fault',
      message: expect.stringContaining(directory),
    })
    const lock = await takeLock(join(directory, 'database.lock'))
    expect(lock).toBeDefined()
    lock?.release()
  })
})

describe('a frame between two processes', () => {
  test('arrives as it was sent, whatever is in it', async () => {
    const received: unknown[] = []
    const server = createServer((socket) => onFrames(socket, (frame) => received.push(frame)))
    const path = join(await directoryOfTest(), 'frames')
    await new Promise<void>((resolve) => server.listen(path, resolve))
    const socket = createConnection(path)
    onTestFinished(() => {
      socket.destroy()
      server.close()
    })

    const value = fc.anything({
      ...{ withDate: true, withBigInt: true, withNullPrototype: false, key: fc.string() },
      values: [
        ...[fc.string({ unit: 'binary' }), fc.double(), fc.integer(), fc.boolean()],
        ...[fc.constant(null), fc.bigInt(), fc.uint8Array().map((bytes) => Buffer.from(bytes))],
      ],
    })
    await fc.assert(
      fc.asyncProperty(fc.array(fc.dictionary(fc.string(), value)), async (sent) => {
        received.length = 0
        sendFrame(socket, { rows: sent } satisfies WireReply)
        await expect.poll(() => received, { interval: 1 }).toHaveLength(1)

        expect(received).toEqual([{ rows: sent }])
      }),
    )
  })
})
