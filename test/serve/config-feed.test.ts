import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { expect, onTestFinished, test } from 'vitest'
import { stringify } from 'yaml'
import { loadConfig } from '../../src/config/load.ts'
import { configRevision } from '../../src/config/reload.ts'
import type { Config } from '../../src/config/schema/schema.ts'
import { createLog } from '../../src/log/log.ts'
import { createConfigFeed } from '../../src/serve/config-feed.ts'
import { loneGatewayConfig, type Sections } from '../support/lone-gateway-config.ts'
import { until } from '../support/until.ts'

async function newFile() {
  const directory = await mkdtemp(join(tmpdir(), 'postern-feed-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const file = join(directory, 'postern.yaml')
  const write = (sections: Sections) =>
    writeFile(file, stringify(loneGatewayConfig(directory, 'http://127.0.0.1:9', sections)))
  const read = (env: Readonly<Record<string, string>> = {}) =>
    loadConfig({ file, env, cwd: directory })
  return { directory, file, write, read }
}

test('a reload reads the file with the environment of the start over it', async () => {
  const { directory, file, write, read } = await newFile()
  const env = { POSTERN_REFUSALS__STATUS: 'real' }
  await write({ logger: { level: 'warn' } })
  const log = createLog('silent', new Writable({ write: (_, __, done) => done() }))
  const feed = createConfigFeed({ file, env, cwd: directory }, read(env), log)
  onTestFinished(() => feed.close())
  const applied: Config[] = []
  feed.follow(async (config) => void applied.push(config))
  await write({ logger: { level: 'error' }, refusals: { status: 'envelope' } })

  await until(() => applied.length > 0)
  expect(applied[0]).toMatchObject({ logger: { level: 'error' }, refusals: { status: 'real' } })
  expect(feed.state().revision).toBe(configRevision(applied[0] as Config))
})

test('a revision is of all settings with their defaults, and not of secrets', async () => {
  const { write, read } = await newFile()
  const revisionOf = async (sections: Sections, env = {}) => {
    await write(sections)
    return configRevision(read(env))
  }
  const plain = await revisionOf({})

  expect(await revisionOf({ refusals: { status: read().refusals.status } })).toBe(plain)
  expect(
    await revisionOf({ jwt: { secret: 'another secret that is long enough: 0123456789' } }),
  ).toBe(plain)
  expect(await revisionOf({}, { POSTERN_REFUSALS__STATUS: 'real' })).not.toBe(plain)
  expect(await revisionOf({ refusals: { status: 'real' } })).not.toBe(plain)
})
