import { describe, expect, test } from 'vitest'
import { mergeReload } from '../../src/config/reload.ts'
import { namedSettings, rootSetting, type Setting } from '../../src/config/schema/setting.ts'
import { readTestConfig } from '../support/test-config.ts'

const upstreams = { a: { targets: ['http://127.0.0.1:9'] } }
const routes = [{ path: '/a', upstream: 'a' }]
const stores = { redis: { url: 'redis://r' }, database: { url: 'postgres://d/p' } }
const active = { application: { mode: 'prod', port: 8000 }, ...stores, upstreams, routes }

describe('a reload names the settings that need a restart, and keeps their values', () => {
  const other = 'another secret of more than thirty-two random bytes 8f2c'

  test.each([
    [
      'ports',
      { ops: { port: 9199 }, application: { port: 8001 } },
      ['application.port', 'ops.port'],
    ],
    ['the mode', { application: { mode: 'test' } }, ['application.mode']],
    ['workers', { application: { workers: 3 } }, ['application.workers']],
    [
      'stores',
      { redis: { url: 'redis://a' }, database: { url: 'postgres://a/b' } },
      ['redis.url', 'database.url'],
    ],
    ['secrets', { jwt: { secret: other } }, ['jwt.secret']],
    ['where the policy comes from', { policy: { directory: 'elsewhere' } }, ['policy.directory']],
    ['limits of connections', { limits: { connections: 7 } }, ['limits.connections']],
  ])('%s', (_, changes, names) => {
    const before = readTestConfig(active)
    const application = { ...active.application, ...Object(changes).application }
    const next = readTestConfig({ ...active, ...changes, application, routes: [], upstreams: {} })

    const { config, needRestart } = mergeReload(before, next, 'c.yaml')

    expect([...needRestart].sort()).toEqual([...names].sort())
    expect(needRestart.join()).not.toContain(other)
    // What can change has changed, the rest has not.
    expect(config).toEqual({ ...before, routes: [], upstreams: {} })
  })
})

test('a route that needs a setting of the next start is rejected, and says so', () => {
  const before = readTestConfig(active)
  const proxied = [{ path: '/b', access: 'authenticated' }]
  const next = readTestConfig({
    ...active,
    application: { ...active.application, trustedProxies: ['10.0.0.1'] },
    forwardAuth: { enabled: true },
    routes: proxied,
  })

  expect(() => mergeReload(before, next, 'c.yaml')).toThrow(
    /routes\[0\]\.upstream is required.*\(restart to apply forwardAuth\.enabled\)/,
  )
})

/** What the schema says: sections that reload as a whole, and single settings. */
function reloading(setting: Setting, path: readonly string[] = []): readonly string[] {
  if (setting.reloads === true) return [path.join('.')]
  return namedSettings(setting).flatMap(([key, child]) => reloading(child, [...path, key]))
}

test('these settings reload, and no other', () => {
  const limits = ['targetBytes', 'bodyBytes', 'minBytesPerSecond', 'minRateWindowMs']
  const timeouts = ['stallTimeoutMs', 'busyStallTimeoutMs']

  expect(reloading(rootSetting)).toEqual([
    ...['application.trustedProxies', 'cors', 'logger.level', 'pages', 'refusals', 'headers'],
    ...[...limits, ...timeouts].map((name) => `limits.${name}`),
    ...['upstreams', 'routes', 'endpoints'],
  ])
})
