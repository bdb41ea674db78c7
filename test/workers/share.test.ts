import { expect, test } from 'vitest'
import { shareOf } from '../../src/workers/share.ts'
import { readTestConfig } from '../support/test-config.ts'

test('what limits the whole gateway is divided among its workers, rounded up', () => {
  const whole = readTestConfig({ upstreams: { a: { targets: ['http://a:1'] } } })

  const part = shareOf(whole, 3)

  const most = (config: typeof whole) => [
    config.limits.connections,
    config.overload.inFlight,
    config.database.poolSize,
    config.login.passwordConcurrency,
    config.login.passwordQueue,
    config.upstreams['a']?.connections,
    config.upstreams['a']?.tunnels,
  ]
  expect(most(part)).toEqual(most(whole).map((limit) => Math.ceil((limit ?? 0) / 3)))
})
