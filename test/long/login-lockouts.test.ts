import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { stringify } from 'yaml'
import { startCrew } from '../support/crew-process.ts'
import { logInFrom } from '../support/log-in.ts'
import { startPostgres } from '../support/postgres-server.ts'
import { testRedis } from '../support/published-policies.ts'
import { request, sendRaw } from '../support/raw-client.ts'
import { runCommand } from '../support/run-command.ts'
import { startPostern, type TestPostern } from '../support/start-postern.ts'
import { testSecret } from '../support/tokens.ts'
import { until } from '../support/until.ts'

const login = { failuresPerPair: 1, failuresPerAccount: 100, perAddressPerMinute: 100_000 }
const fields = { username: 'editor', password: 'wrong', uuid: '-', code: '-' }
const wrong = 400
const lockedOut = 429

test('two gateways on one PostgreSQL, without Redis, follow one command', async () => {
  const postgres = await startPostgres()
  onTestFinished(postgres.stop)
  const start = () =>
    startPostern({
      config: { application: { mode: 'dev' }, login, database: { url: postgres.url } },
      verifyPassword: async () => undefined,
    })
  const gateways = [await start(), await start()]
  const [first] = gateways as [TestPostern]
  const run = (...args: readonly string[]) =>
    runCommand(['login', ...args, '--config', join(dirname(first.policyDirectory), 'postern.yaml')])
  const records = () => postgres.query<{ owner: string }>('select owner from postern_login_lockout')
  const attempt = (gateway: TestPostern, from = '127.0.0.7') => logInFrom(gateway, from, fields)

  for (const gateway of gateways) {
    expect([await attempt(gateway), await attempt(gateway)]).toEqual([wrong, lockedOut])
  }
  await until(async () => (await records()).length === 2)
  const { out } = await run('locks', '--output', 'json', '--show-names')
  expect(JSON.parse(out).lockouts).toMatchObject([
    { kind: 'pair', username: 'editor', address: '127.0.0.7' },
  ])

  expect((await run('unlock', 'editor')).code).toBe(0)

  for (const gateway of gateways) await until(async () => (await attempt(gateway)) === wrong)

  // A database that hangs delays no login, and gets the record once it answers.
  await postgres.pause()
  expect(await attempt(first, '127.0.0.8')).toBe(wrong)
  expect(await attempt(first, '127.0.0.8')).toBe(lockedOut)
  postgres.resume()
  await until(async () => (await run('locks')).out.includes('127.0.0.8'))

  // What a gateway counted ends with it.
  await first.close()
  expect((await run('locks')).out).not.toContain('127.0.0.8')
})

test('two workers that share Redis follow one command', async () => {
  const [redis, postgres] = await Promise.all([testRedis(), startPostgres()])
  onTestFinished(postgres.stop)
  const config = {
    application: { mode: 'dev', host: '127.0.0.1', port: 0, workers: 2 },
    login,
    redis: { url: redis.url, prefix: '{lockouts}:' },
  }
  const crew = await startCrew({ redisUrl: redis.url, databaseUrl: postgres.url }, { config })
  onTestFinished(crew.clear)
  const body = JSON.stringify(fields)
  async function attempt() {
    const head = ['Content-Type: application/json', `Content-Length: ${body.length}`]
    const text = `${request('POST /api/v1/login', head)}${body}`
    const { answers } = await sendRaw(crew.publicPort, text, { quietMs: 60_000 })
    return (answers[0]?.json() as { readonly code?: number } | undefined)?.code
  }
  const directory = await mkdtemp(join(tmpdir(), 'postern-lockouts-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const settings = { jwt: { secret: testSecret }, database: { url: postgres.url }, ...config }
  const file = join(directory, 'postern.yaml')
  await writeFile(file, stringify(settings))
  const run = (...args: readonly string[]) => runCommand(['login', ...args, '--config', file])
  await until(async () => (await attempt()) === lockedOut)
  await until(async () => (await run('locks', '--show-names')).out.includes('editor'))

  expect((await run('unlock', 'editor')).code).toBe(0)

  expect(await attempt()).toBe(wrong)
})
