import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { loadConfig } from '../../src/config/load.ts'
import { rootSetting, type Setting } from '../../src/config/schema/setting.ts'

describe('relative paths in a configuration file', () => {
  let cwd: string
  beforeAll(() => {
    cwd = mkdtempSync(join(tmpdir(), 'postern-paths-'))
    mkdirSync(join(cwd, 'site'))
    mkdirSync(join(cwd, 'elsewhere'))
  })
  afterAll(() => rmSync(cwd, { recursive: true, force: true }))

  function load(yaml: string, options: { env?: Record<string, string>; from?: string } = {}) {
    const file = join(cwd, 'site', 'postern.yaml')
    writeFileSync(file, `application: { mode: dev${yaml}`)
    const { from = '.', env = {} } = options
    return loadConfig({ file, env, cwd: join(cwd, from) })
  }

  const everywhere = `, dataDirectory: state }
policy: { directory: ../rules }
jwt: { keyDirectory: ./keys }
tls: { certFile: tls/a.crt, keyFile: /etc/a.key }
logger: { decisions: { file: decisions.log } }
revocation: { snapshot: revoked }
login: { module: ./own.mjs }
upstreams: { app: { targets: ['https://app.internal'], tls: { caFile: ca.pem } } }
routes: [{ path: /down, access: public, reason: a page, respond: { status: 503, file: down.html } }]
`

  test('start at its directory', () => {
    const config = load(everywhere)

    expect(config.application.dataDirectory).toBe('site/state')
    expect(config.policy.directory).toBe('rules')
    expect(config.jwt.keyDirectory).toBe('site/keys')
    expect(config.tls).toMatchObject({ certFile: 'site/tls/a.crt', keyFile: '/etc/a.key' })
    expect(config.logger.decisions.file).toBe('site/decisions.log')
    expect(config.revocation.snapshot).toBe('site/revoked')
    expect(config.login.module).toBe('site/own.mjs')
    expect(config.upstreams['app']?.tls?.caFile).toBe('site/ca.pem')
    expect(config.routes[0]?.respond?.file).toBe('site/down.html')
  })

  test('are the same files from another directory', () => {
    const config = load(everywhere, { from: 'elsewhere' })

    expect(config.application.dataDirectory).toBe(join(cwd, 'site/state'))
    expect(config.policy.directory).toBe(join(cwd, 'rules'))
  })

  test('stay as written beside the file', () => {
    const config = load(everywhere, { from: 'site' })

    expect(config.jwt.keyDirectory).toBe('./keys')
  })

  test('of variables and defaults start at the working directory', () => {
    const env = { POSTERN_POLICY__DIRECTORY: 'mine' }
    const config = load(' }\npolicy: { directory: theirs }\n', { env })

    expect(config.policy.directory).toBe('mine')
    expect(config.application.dataDirectory).toBe('data')
  })

  test('among trusted keys move, and keys do not', () => {
    const key = 'ssh-ed25519 AAAA ann'
    const config = load(` }
redis: { url: 'redis://127.0.0.1:1' }
policy: { source: redis, trust: { keys: [team.pub, '${key}'] } }
`)

    expect(config.policy.trust?.keys).toEqual(['site/team.pub', key])
  })

  test('cover every setting that describes itself as a file or a directory', () => {
    const unmarked = [...settingsIn(rootSetting, '')].filter(
      ([, { description = '', isPath }]) =>
        /^(?:File|Path of (?:a|the) (?:file|PEM)|Directory) /.test(description) && !isPath,
    )

    expect(unmarked.map(([path]) => path)).toEqual([])
  })
})

function* settingsIn(setting: Setting, path: string): Generator<readonly [string, Setting]> {
  yield [path, setting]
  const children = { ...setting.properties, ...setting.patternProperties }
  for (const [key, child] of Object.entries(children)) yield* settingsIn(child, `${path}.${key}`)
  if (setting.items !== undefined) yield* settingsIn(setting.items, `${path}[]`)
  for (const form of setting.anyOf ?? []) yield* settingsIn(form, path)
}

describe('the default configuration file', () => {
  test('is postern.yaml, else config/postern.yaml', () => {
    const cwd = mkdtempSync(join(tmpdir(), 'postern-default-'))
    try {
      const port = () => loadConfig({ env: {}, cwd }).application.port

      expect(port).toThrow(
        'postern.yaml: configuration file does not exist; run "postern init" to create one, or give the path of yours',
      )
      mkdirSync(join(cwd, 'config'))
      writeFileSync(join(cwd, 'config/postern.yaml'), 'application: { mode: dev, port: 1 }')
      expect(port()).toBe(1)
      writeFileSync(join(cwd, 'postern.yaml'), 'application: { mode: dev, port: 2 }')
      expect(port()).toBe(2)
    } finally {
      rmSync(cwd, { recursive: true, force: true })
    }
  })

  test('that was named and is missing is not blamed on init', () => {
    const load = () => loadConfig({ file: 'none.yaml', env: {}, cwd: tmpdir() })

    expect(load).toThrow(/^none\.yaml: configuration file does not exist$/)
  })
})
