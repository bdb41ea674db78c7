import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { findMariadb, startMariadb } from '../support/mariadb-server.ts'
import { startPostgres } from '../support/postgres-server.ts'
import { startReplicas, tokenFrom } from '../support/session-replicas.ts'
import { until } from '../support/until.ts'

/** A database that shows the statements it was sent since the last call. */
interface WatchedDatabase {
  readonly url: string
  taken(): Promise<readonly string[]>
}

/** Each is one round trip: a query more for every login is a load that nobody sees in the code. */
const session = ['delete postern_session', 'insert postern_session']
const account = ['select postern_totp', 'select sys_user']
const profile = ['select sys_role', 'select sys_user']
const revoked = ['delete postern_revocation', 'delete postern_session', 'insert postern_revocation']

const onPostgres = {
  login: ['insert postern_login_attempt', ...session, ...account],
  logout: ['insert postern_login_attempt', ...revoked],
}
const log = [
  ...['select postern_login_attempt', 'insert sys_login_log'],
  ...['insert postern_login_attempt', 'delete postern_login_attempt'],
]
const onMariadb = {
  login: [...log, ...session, ...account],
  logout: [...log, ...revoked, 'select postern_lock', 'update postern_lock'],
}

const hasMariadb = findMariadb() !== undefined
if (!hasMariadb) process.stderr.write('MariaDB is not installed: its statements are not counted\n')

describe.each([
  ['PostgreSQL', watchedPostgres, onPostgres] as const,
  ...(hasMariadb ? [['MariaDB', watchedMariadb, onMariadb] as const] : []),
])('a gateway on %s', (_, start, expected) => {
  test('sends these statements for a login, a logout, a profile and a reload, and no others', async () => {
    const database = await start()
    const replicas = await startReplicas({ databaseUrl: database.url })
    const gateway = await replicas.start()
    const users = [await replicas.addUser(), await replicas.addUser()] as const
    // The first login of a process also removes what has expired.
    await tokenFrom(gateway, users[0])
    await settled()

    const token = await tokenFrom(gateway, users[1])
    expect(await settled(expected.login.length)).toEqual(expected.login.toSorted())

    await gateway.call('GET /api/v1/user/profile', { token })
    expect(await settled(profile.length)).toEqual(profile)

    await gateway.call('GET /api/v1/public/a', { token })
    await gateway.apply(gateway.config)
    expect(await settled()).toEqual([])

    await gateway.call('POST /api/v1/logout', { token })
    expect(await settled(expected.logout.length)).toEqual(expected.logout.toSorted())

    /** Waits until so many statements were sent, and for what might follow them. */
    async function settled(count = 0): Promise<readonly string[]> {
      const found: string[] = []
      const take = async () => found.push(...(await database.taken()).flatMap(shortened))
      await until(async () => (await take()) >= count)
      await pause(1500)
      await take()
      return found.toSorted()
    }
  })
})

/** Its verb and the table it is about. Polls, locks and the clock belong to no request. */
function shortened(statement: string): readonly string[] {
  const verb = /\b(?:insert|update|delete|select)\b/.exec(
    statement.replace(/^with[^(]*\(select/, ''),
  )
  const table = /(?<=\b(?:from|into|update)\s["`])\w+/.exec(statement)
  const isPoll = /"list"|`list`|postern_policy_usage/.test(statement)
  return verb === null || table === null || isPoll ? [] : [`${verb[0]} ${table[0]}`]
}

/** Every statement passes through a proxy that reads PostgreSQL's protocol. */
async function watchedPostgres(): Promise<WatchedDatabase> {
  const server = await startPostgres()
  onTestFinished(server.stop)
  const statements: string[] = []
  const proxy = createServer((near) => {
    const far = connect(server.port, '127.0.0.1')
    let rest = Buffer.alloc(0)
    let isStarted = false
    near.on('data', (chunk: Buffer) => {
      far.write(chunk)
      rest = Buffer.concat([rest, chunk])
      for (;;) {
        // Only the first message has no type.
        const head = isStarted ? 1 : 0
        const length = rest.length < head + 4 ? Number.POSITIVE_INFINITY : rest.readInt32BE(head)
        if (rest.length < head + length) return
        const type = isStarted ? rest.toString('latin1', 0, 1) : ''
        const fields = rest.toString('utf8', head + 4, head + length).split('\0')
        if (type === 'Q') statements.push(fields[0] ?? '')
        if (type === 'P') statements.push(fields[1] ?? '')
        isStarted = true
        rest = rest.subarray(head + length)
      }
    })
    far.pipe(near)
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.on('close', () => other.destroy())
      one.on('error', () => {})
    }
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  onTestFinished(() => void proxy.close())
  const { port } = proxy.address() as AddressInfo
  return {
    url: server.url.replace(`:${server.port}/`, `:${port}/`),
    taken: async () => statements.splice(0),
  }
}

/** The log of the server has every statement. */
async function watchedMariadb(): Promise<WatchedDatabase> {
  const server = await startMariadb()
  onTestFinished(server.stop)
  await server.query('create database counted')
  await server.query("set global log_output = 'TABLE'")
  await server.query('set global general_log = on')
  let seen = 0
  return {
    url: server.urlOf('counted'),
    async taken() {
      const rows = await server.query<{ argument: string }>(
        `select convert(argument using utf8mb4) as argument from mysql.general_log
         where command_type in ('Query', 'Execute') limit 100000 offset ${seen}`,
      )
      seen += rows.length
      return rows.map(({ argument }) => argument).filter((text) => !text.includes('general_log'))
    },
  }
}
