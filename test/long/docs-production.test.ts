import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { pack } from '../support/packed-package.ts'
import { startPostgres } from '../support/postgres-server.ts'
import { startRedis } from '../support/redis-server.ts'
import { runPage } from '../support/run-page.ts'

test('docs/tutorial-production.md: every command prints what the page shows', {
  timeout: 900_000,
}, async () => {
  const root = await mkdtemp(join(tmpdir(), 'postern-packed-'))
  onTestFinished(() => rm(root, { recursive: true, force: true }))
  const packed = await pack(root)
  const redis = await startRedis()
  onTestFinished(() => redis.stop())
  const postgres = await startPostgres()
  onTestFinished(() => postgres.stop())
  await postgres.query('CREATE DATABASE postern')

  const page = await runPage('docs/tutorial-production.md', {
    ports: [3000, 8000, 8001, 9100, 9102],
    servers: { 5432: postgres.port, 6379: redis.port },
    prepare: (directory) => copyFile(packed, join(directory, 'postern-0.1.0.tgz')),
  })
  onTestFinished(() => page.close())

  expect(page.differences).toEqual([])
  expect(page.count).toBeGreaterThan(30)
})
