import { onTestFinished } from 'vitest'
import { type RedisServer, startRedis } from './redis-server.ts'
import { until } from './until.ts'

export interface SteeredSentinel {
  readonly url: string
  readonly primary: RedisServer
  readonly replicas: readonly RedisServer[]
  readonly sentinel: RedisServer
}

/** A primary, replicas and a sentinel that does nothing by itself, until the test ends. */
export async function startSteeredSentinel(options: {
  readonly replicas: number
  /** Further options of the primary. */
  readonly args?: readonly string[]
}): Promise<SteeredSentinel> {
  const start = async (...args: Parameters<typeof startRedis>) => {
    const server = await startRedis(...args)
    onTestFinished(server.stop)
    return server
  }
  const soon = ['--repl-diskless-sync-delay', '0', '--repl-ping-replica-period', '1']
  const primary = await start({ args: [...soon, ...(options.args ?? [])] })
  const follow = ['--replicaof', '127.0.0.1', String(primary.port)]
  const replicas: RedisServer[] = []
  for (let number = 0; number < options.replicas; number++) {
    replicas.push(await start({ args: [...soon, ...follow] }))
  }
  await until(async () => (await followersOf(primary)) === options.replicas)
  const sentinel = await start({
    sentinel: [
      `sentinel monitor postern 127.0.0.1 ${primary.port} 1`,
      'sentinel down-after-milliseconds postern 600000',
    ],
  })
  await until(async () => {
    const known = (await sentinel.client.call('SENTINEL', 'REPLICAS', 'postern')) as string[][]
    return known.length === options.replicas && known.flat().filter(isUp).length === known.length
  })
  return {
    url: `redis+sentinel://127.0.0.1:${sentinel.port}/postern`,
    primary,
    replicas,
    sentinel,
  }
}

/** One of the values that Sentinel gives for a replica, once it has asked it. */
function isUp(value: string): boolean {
  return value === 'ok'
}

/** `master` or `slave`; `undefined` when it does not answer. */
export async function roleOf({ client }: RedisServer): Promise<string | undefined> {
  return /^role:(\w+)/m.exec(await client.info('replication').catch(() => ''))?.[1]
}

/** How many replicas follow this server. */
export async function followersOf({ client }: RedisServer): Promise<number> {
  const text = await client.info('replication').catch(() => '')
  return text.match(/state=online/g)?.length ?? 0
}
