import { isIP } from 'node:net'
import { Cluster, Redis } from 'ioredis'
import { Invalid } from '../errors.ts'
import { hasHashTag, parseRedisUrl, type RedisAddress } from './redis-address.ts'

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
  const each = options(settings, address)
  if (address.kind !== 'cluster') {
    return new Redis({
      ...each,
      ...lone,
      db: address.db,
      ...at(address, settings.commandTimeoutMs),
    })
  }
  if (!hasHashTag(settings.prefix)) {
    const message = 'needs a hash tag on a Redis Cluster, such as {postern}: with its braces'
    throw new Invalid([{ file: 'redis.prefix', message }])
  }
  return new Cluster([...address.hosts], {
    redisOptions: each,
    clusterRetryStrategy: retry,
    enableOfflineQueue: false,
    lazyConnect: true,
    slotsRefreshTimeout: settings.connectTimeoutMs,
    // Certificates carry names: with TLS the nodes are not to be replaced by their addresses.
    ...(address.tls && { dnsLookup: (name, done) => done(null, name) }),
  })
}

/** What a cluster decides as a whole, not for each of its nodes. */
const lone = { lazyConnect: true, enableOfflineQueue: false, retryStrategy: retry }

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

function at({ kind, hosts, tls, master, ...address }: RedisAddress, commandTimeoutMs: number) {
  const [first] = hosts
  if (kind !== 'sentinel') {
    const { host = '', port = 0 } = first ?? {}
    // Services behind one address choose the certificate by the name, which the driver leaves out.
    return { host, port, ...(tls && isIP(host) === 0 && { tls: { servername: host } }) }
  }
  return {
    sentinels: [...hosts],
    ...(master !== undefined && { name: master }),
    ...(address.sentinelUsername && { sentinelUsername: address.sentinelUsername }),
    ...(address.sentinelPassword && { sentinelPassword: address.sentinelPassword }),
    ...(tls && { enableTLSForSentinelMode: true, sentinelTLS: {} }),
    // Without one, a connection that finds no master ends for good.
    sentinelRetryStrategy: retry,
    sentinelCommandTimeout: commandTimeoutMs,
  }
}

/** Soon at first, at most a second apart, and never all replicas in step. */
function retry(times: number): number {
  return Math.min(50 * 2 ** Math.min(times, 5), 1000) * (0.5 + Math.random() / 2)
}
