import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { loadConfig } from '../src/config/load.ts'
import { testSecret } from './support/tokens.ts'

interface Service {
  readonly environment?: Readonly<Record<string, string>>
  readonly entrypoint?: readonly string[]
  readonly volumes?: readonly string[]
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
}

const { services } = parse(readFileSync('docker-compose.yml', 'utf8'), { merge: true }) as {
  readonly services: Readonly<Record<string, Service>>
}

describe('docker compose up', () => {
  test('starts gateway, Redis, PostgreSQL and the sample service', () => {
    expect(Object.keys(services)).toEqual(
      expect.arrayContaining(['gateway', 'redis', 'postgres', 'orders']),
    )
    expect(services['gateway']?.depends_on).toHaveProperty('setup')
  })

  test('gives the gateway a configuration that it takes, for the services beside it', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'postern-compose-'))
    onTestFinished(() => rm(directory, { recursive: true, force: true }))
    await writeFile(join(directory, 'jwt'), testSecret)
    await writeFile(join(directory, 'database-url'), 'postgres://postern:x@postgres/postern')
    const { POSTERN_CONFIG, ...settings } = services['gateway']?.environment ?? {}
    const env = Object.fromEntries(
      Object.entries(settings).map(([name, value]) => [
        name,
        value.replace('/run/postern', directory),
      ]),
    )

    const file = 'samples/compose/postern.yaml'
    const config = loadConfig({ file, env, cwd: process.cwd() })

    expect(services['gateway']?.volumes).toContain(`./${file}:${POSTERN_CONFIG}:ro`)
    const hosts = [config.redis.url, config.database.url, config.upstreams['orders']?.targets[0]]
    expect(hosts.map((url) => new URL(url ?? '').hostname)).toEqual(['redis', 'postgres', 'orders'])
    expect(config).toMatchObject({ application: { mode: 'prod' }, logger: { enableddb: true } })
  })

  test('runs programs that are there', () => {
    const scripts = Object.values(services).flatMap(({ entrypoint = [] }) => entrypoint[1] ?? [])

    expect(scripts).toHaveLength(3)
    for (const script of scripts) {
      expect(readFileSync(script.replace('/app/', ''), 'utf8')).not.toBe('')
    }
  })
})
