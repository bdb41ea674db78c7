import { afterAll, beforeAll, beforeEach } from 'vitest'
import { type RedisServer, startRedis } from './redis-server.ts'

/** A Redis for the tests of a file or block, empty before each of them. */
export function emptiedRedis(): Pick<RedisServer, 'url' | 'client'> {
  let server: RedisServer | undefined
  beforeAll(async () => {
    server = await startRedis()
  })
  afterAll(() => server?.stop())
  beforeEach(async () => {
    await started().client.flushall()
  })

  function started(): RedisServer {
    if (server === undefined) throw new Error('Redis runs only during tests')
    return server
  }
  return {
    get url() {
      return started().url
    },
    get client() {
      return started().client
    },
  }
}
