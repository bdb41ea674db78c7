import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { loadConfig, readConfig } from '../../src/config/load.ts'
import { redacted } from '../../src/config/secrets.ts'
import { parseRedisUrl } from '../../src/stores/redis/redis-address.ts'

const cwd = mkdtempSync(join(tmpdir(), 'postern-settings-'))
afterAll(() => rmSync(cwd, { recursive: true }))
const env = { POSTERN_JWT__SECRET: 'kV7w-2Qz9_mB4tRxP0sLdY6hJnC8fGuE1aWi' }

function source(yaml: string) {
  writeFileSync(join(cwd, 'x.yaml'), yaml)
  return { file: 'x.yaml', env, cwd }
}

describe('the settings of policy and redis', () => {
  test('are files in a directory unless said otherwise', () => {
    const { policy, redis } = loadConfig(source(''))

    expect(policy).toEqual({
      source: 'files',
      directory: 'policies',
      openapi: [],
      pollSeconds: 3,
      usage: true,
      replicaMemory: 86_400,
    })
    expect(redis).toEqual({ prefix: '{postern}:', commandTimeoutMs: 300, connectTimeoutMs: 1500 })
  })

  test.each([59, 1.5, '1 d'])('refuse %j as replicaMemory', (value) => {
    expect(() => loadConfig(source(`policy: { replicaMemory: ${value} }`))).toThrow('replicaMemory')
  })

  test('never show the URL, which may hold a password', () => {
    const config = loadConfig(source('redis: { url: "redis://:hunter22@cache" }'))

    expect(JSON.stringify(redacted(config))).not.toContain('hunter22')
  })

  test.each([
    ['redis without its URL', 'policy: { source: redis }', 'redis.url'],
    ['a snapshot of files', 'policy: { snapshot: a }', 'policy.snapshot'],
    [
      'a cluster without a hash tag',
      'redis: { url: "redis+cluster://a", prefix: "postern:" }',
      'redis.prefix',
    ],
    ['a poll too far apart to be noticed in time', 'policy: { pollSeconds: 6 }', 'pollSeconds'],
    ['a prefix with a space', 'redis: { prefix: "a b" }', 'redis.prefix'],
    ['a URL of something else', 'redis: { url: "http://cache" }', 'redis.url'],
  ])('refuse %s', (_, yaml, named) => {
    const { problems } = readConfig(source(yaml))

    expect(problems.map(({ message }) => message)).toEqual([expect.stringContaining(named)])
  })

  test.each([
    ['redis://cache', true],
    ['rediss://user:p%40ss@[::1]:7000/3', true],
    ['redis+sentinel://:a@b,c:26380/main/2?sentinelPassword=d', true],
    ['rediss+cluster://:a@b:1,c', true],
    ['redis://a,b', false],
    ['redis://cache/x', false],
    ['redis+sentinel://a,b', false],
    ['redis+cluster://a/3', false],
  ])('read the URL %s as the store does', (url, usable) => {
    const { problems } = readConfig(source(`redis: { url: "${url}" }`))
    const parsed = () => parseRedisUrl(url)

    expect(problems.length === 0).toBe(usable)
    if (usable) expect(parsed).not.toThrow()
    else expect(parsed).toThrow()
  })
})
