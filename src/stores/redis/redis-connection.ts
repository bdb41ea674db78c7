import { Cluster, Redis } from 'ioredis'
import { Invalid } from '../../errors.ts'
import { hasHashTag, parseRedisUrl, type RedisAddress } from './redis-address.ts'
import { connectorTo } from './redis-connector.ts'
import { createFindPrimary } from './redis-sentinels.ts'

/** Where Redis is, under which prefix our keys stand, and how long it may keep us waiting. */
export interface RedisSettings {
  readonly url: string
  readonly prefix: string
  readonly connectTimeoutMs: number
  readonly commandTimeoutMs: number
}

/** How much longer a whole policy may take on its way than a small command. */
export const BULK_FACTOR = 10

/**
 * A connection that is not open yet, and that opens itself again whenever it is lost. It queues
 * nothing: what is asked while it is down fails at once. Throws `Invalid` on a URL that is none.
 */
export function createConnection(settings: RedisSettings): Redis | Cluster {
  const address = parseRedisUrl(settings.url)
  if (address.kind !== 'cluster') return createLone(settings, address)
  if (!hasHashTag(settings.prefix)) {
    const message = 'needs a hash tag for Redis Cluster, for example {postern}:'
    throw new Invalid([{ file: 'redis.prefix', message }])
  }
  const Connector = connectorTo({ tls: address.tls, find: (own) => own, retryMs: retry })
  return new Cluster([...address.hosts], {
    redisOptions: { ...options(settings, address), Connector },
    clusterRetryStrategy: retry,
    enableOfflineQueue: false,
    lazyConnect: true,
    slotsRefreshTimeout: settings.connectTimeoutMs,
    // Certificates carry names: with TLS the nodes are not to be replaced by their addresses.
    ...(address.tls && { dnsLookup: (name, done) => done(null, name) }),
  })
}

/**
 * The same for listening. In a cluster every node passes on every message, so one connection to any
 * of those in the URL is enough, and one that fell silent can be dropped for another.
 */
export function createListener(settings: RedisSettings): Redis {
  return createLone(settings, parseRedisUrl(settings.url))
}

function createLone(settings: RedisSettings, address: RedisAddress): Redis {
  const { kind, hosts, tls } = address
  let turn = Math.floor(Math.random() * hosts.length)
  const find =
    kind === 'sentinel'
      ? createFindPrimary(address, settings)
      : () => hosts[turn++ % hosts.length] ?? { host: '', port: 0 }
  return new Redis({
    ...options(settings, address),
    lazyConnect: true,
    enableOfflineQueue: false,
    retryStrategy: retry,
    db: address.db,
    Connector: connectorTo({ tls, find, retryMs: retry, primaryOnly: kind === 'sentinel' }),
  })
}

function options(settings: RedisSettings, address: RedisAddress) {
  return {
    ...(address.username !== undefined && { username: address.username }),
    ...(address.password !== undefined && { password: address.password }),
    ...(address.tls && { tls: {} }),
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    // Its own resubscription is a promise that nobody catches; see redis-subscriber.ts.
    autoResubscribe: false,
    connectTimeout: settings.connectTimeoutMs,
    // A peer that went away without a word is found out when it owes an answer.
    socketTimeout: Math.max(settings.connectTimeoutMs, settings.commandTimeoutMs * BULK_FACTOR),
    maxLoadingRetryTime: 1000,
    // After a failover behind one name, the old address is a replica.
    reconnectOnError: ({ message }: Error) => message.startsWith('READONLY'),
    protocol: 2 as const,
    disableClientInfo: true,
  }
}

/** Soon at first, at most half a second apart, and never all replicas in step. */
function retry(times: number): number {
  return Math.min(50 * 2 ** Math.min(times, 4), 500) * (0.5 + Math.random() / 2)
}
