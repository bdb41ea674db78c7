import { describe, expect, test } from 'vitest'
import { shareOf } from '../../src/workers/share.ts'
import { workerCount } from '../../src/workers/worker-count.ts'
import { readTestConfig } from '../support/test-config.ts'

const shared = {
  database: { url: 'postgres://127.0.0.1/a' },
  redis: { url: 'redis://127.0.0.1' },
}

describe('how many workers there are', () => {
  test.each([
    ['1', { application: { workers: 1 } }, 8, { count: 1 }],
    ['a number', { application: { workers: 3 }, ...shared }, 8, { count: 3 }],
    ['auto', { application: { workers: 'auto' }, ...shared }, 8, { count: 8 }],
    ['auto on one core', { application: { workers: 'auto' } }, 1, { count: 1 }],
    [
      'auto without shared stores',
      { application: { workers: 'auto' } },
      8,
      { count: 1, why: 'several workers need database.url and redis.url' },
    ],
    [
      'auto without a shared Redis',
      { application: { workers: 'auto' }, database: shared.database },
      8,
      { count: 1, why: 'several workers need redis.url' },
    ],
  ])('is told by %s', (_, config, cores, expected) => {
    expect(workerCount(readTestConfig(config), cores)).toEqual(expected)
  })
})

describe('the configuration of one worker', () => {
  test('has its share, rounded up, of what limits the whole', () => {
    const config = readTestConfig({
      ...shared,
      limits: { connections: 1001 },
      database: { ...shared.database, poolSize: 10 },
      login: { passwordConcurrency: 2, passwordQueue: 64 },
      upstreams: { backend: { targets: ['http://127.0.0.1:1'], connections: 255 } },
    })

    const share = shareOf(config, 4)

    expect(share.limits.connections).toBe(251)
    expect(share.database.poolSize).toBe(3)
    expect(share.login).toMatchObject({ passwordConcurrency: 1, passwordQueue: 16 })
    expect(share.upstreams['backend']?.connections).toBe(64)
    expect(share.redis).toEqual(config.redis)
    expect(share.login.perAddressPerMinute).toBe(config.login.perAddressPerMinute)
  })
})
