import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { startPostgres } from '../support/postgres-server.ts'
import { startRedis } from '../support/redis-server.ts'
import { type RanPage, runPage } from '../support/run-page.ts'

/** The reader of a guide has installed the command. */
let env: Readonly<Record<string, string>>
beforeAll(async () => {
  const root = await mkdtemp(join(tmpdir(), 'postern-command-'))
  const command = join(root, 'postern')
  const script = `#!/bin/sh\nexec '${process.execPath}' '${resolve('src/main.ts')}' "$@"\n`
  writeFileSync(command, script, { mode: 0o755 })
  env = { PATH: `${root}:${process.env['PATH']}`, POSTERN_OPS__PORT: '9100' }
  return () => rm(root, { recursive: true, force: true })
})

async function expectTrue(running: Promise<RanPage>, commands: number): Promise<void> {
  const page = await running
  onTestFinished(() => page.close())
  expect(page.differences).toEqual([])
  expect(page.count).toBeGreaterThanOrEqual(commands)
}

async function redisServer(): Promise<Readonly<Record<number, number>>> {
  const redis = await startRedis()
  onTestFinished(() => redis.stop())
  return { 6379: redis.port }
}

const timeout = 900_000
const ports = [3000, 8000, 9100]

/** Programs that a page uses and this machine may lack. */
function missing(...programs: readonly string[]): boolean {
  const absent = programs.filter((name) => spawnSync(name, ['--version']).error !== undefined)
  if (absent.length > 0) console.warn(`left out: a guide that needs ${absent.join(', ')}`)
  return absent.length > 0
}

describe('every command prints what the page shows', () => {
  test('docs/unlock-user.md', { timeout }, () =>
    expectTrue(runPage('docs/unlock-user.md', { ports, env }), 16),
  )

  test('docs/cors.md', { timeout }, () => expectTrue(runPage('docs/cors.md', { ports, env }), 11))

  test('docs/http2.md', { timeout }, () => expectTrue(runPage('docs/http2.md', { ports, env }), 4))

  test('docs/machine-clients.md', { timeout }, () =>
    expectTrue(runPage('docs/machine-clients.md', { ports, env }), 13),
  )

  test.skipIf(missing('openssl'))('docs/rotate-keys.md', { timeout }, () =>
    expectTrue(runPage('docs/rotate-keys.md', { ports: [...ports, 8443, 9102], env }), 26),
  )

  test.skipIf(missing('git'))('docs/gitops.md', { timeout }, async () => {
    const servers = await redisServer()
    await expectTrue(runPage('docs/gitops.md', { ports, servers, env }), 22)
  })

  test.skipIf(missing('pg_dump', 'psql', 'redis-cli'))('docs/backup.md', { timeout }, async () => {
    const postgres = await startPostgres()
    onTestFinished(() => postgres.stop())
    await postgres.query('CREATE DATABASE postern')
    const servers = { ...(await redisServer()), 5432: postgres.port }
    await expectTrue(runPage('docs/backup.md', { ports, servers, env }), 18)
  })
})
