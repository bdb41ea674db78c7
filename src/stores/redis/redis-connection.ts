import type { Socket } from 'node:net'
import type { Cluster, Redis } from 'ioredis'
import { Invalid } from '../../kernel/errors.ts'
import { hasHashTag, parseRedisUrl, type RedisAddress } from './redis-address.ts'
import { type ConnectorParts, connectorTo } from './redis-connector.ts'
import { leave, leaveDeposed } from './redis-deposed.ts'
import { loadDriver } from './redis-driver.ts'
import { createSentinels, type SentinelConsensus } from './redis-sentinels.ts'

/** Where Redis is, the prefix of our keys, and the timeouts. */
export interface RedisSettings {
  readonly url: string
  readonly prefix: string
  readonly connectTimeoutMs: number
  readonly commandTimeoutMs: number
}

/** How much longer the transfer of a whole policy may take than a small command. */
export const BULK_FACTOR = 10

const DISCONNECT_MS = 50
/** Between two questions about the slots of a cluster, so that one that is only slow stays usable. */
const DOUBT_MS = 500

export interface RedisConnection {
  readonly driver: Redis | Cluster
  /** Call it when a command got no reply. Only with Cluster: finds out who serves our slot now. */
  readonly doubt?: () => void
  /** Only with Sentinel. */
  readonly sentinel?: SentinelView
}

interface SentinelView {
  /** What the sentinels said when this connection was last opened. */
  readonly opened: () => SentinelConsensus | undefined
  /** What most of them say now. */
  readonly ask: () => Promise<SentinelConsensus>
  /** Leaves a server that they have replaced. */
  readonly leave: () => void
}

/**
 * A connection that is not open yet, and that opens itself again whenever it is lost. It queues
 * nothing: a command fails at once while it is down. Throws `Invalid` on an invalid URL.
 */
export function createConnection(settings: RedisSettings): RedisConnection {
  const address = parseRedisUrl(settings.url)
  if (address.kind !== 'cluster') return createLone(settings, address)
  if (!hasHashTag(settings.prefix)) {
    const message = 'needs a hash tag for Redis Cluster, for example {postern}:'
    throw new Invalid([{ file: 'redis.prefix', message }])
  }
  const Connector = connectorTo({ tls: address.tls, find: (own) => own, retryMs: retry })
  const { Cluster } = loadDriver()
  const driver = new Cluster([...address.hosts], {
    redisOptions: { ...options(settings, address), Connector },
    clusterRetryStrategy: retry,
    enableOfflineQueue: false,
    lazyConnect: true,
    slotsRefreshTimeout: settings.connectTimeoutMs,
    // Certificates carry names: with TLS the nodes are not to be replaced by their addresses.
    ...(address.tls && { dnsLookup: (name, done) => done(null, name) }),
  })
  let requestedAt = Number.NEGATIVE_INFINITY
  return {
    driver,
    // The driver asks after errors only, and a node that hangs gives none until a timeout of seconds.
    doubt() {
      if (performance.now() < requestedAt + DOUBT_MS) return
      requestedAt = performance.now()
      driver.refreshSlotsCache()
    },
  }
}

/**
 * Opens a connection for listening. In a cluster every node passes on every message, so one connection to any
 * of those in the URL is enough, and one that fell silent can be dropped for another.
 */
export function createListener(settings: RedisSettings): Redis {
  return createLone(settings, parseRedisUrl(settings.url)).driver
}

function createLone(
  settings: RedisSettings,
  address: RedisAddress,
): RedisConnection & { readonly driver: Redis } {
  if (address.kind === 'sentinel') return createWatched(settings, address)
  const { hosts } = address
  let turn = Math.floor(Math.random() * hosts.length)
  const find = () => hosts[turn++ % hosts.length] ?? { host: '', port: 0 }
  return { driver: createDriver(settings, address, { find }) }
}

/** Opens a connection to the server that Sentinel names. */
function createWatched(settings: RedisSettings, address: RedisAddress) {
  const sentinels = createSentinels(address, settings)
  let opened: SentinelConsensus | undefined
  let stream: Socket | undefined
  const driver = createDriver(settings, address, {
    async find() {
      opened = await sentinels.ask()
      return opened.primary
    },
    onStream(next) {
      stream = next
      if (opened !== undefined) leaveDeposed(next, opened, sentinels)
    },
    primaryOnly: true,
  })
  return {
    driver,
    sentinel: {
      opened: () => opened,
      ask: () => sentinels.ask({ majority: true }),
      leave: () => leave(stream),
    },
  }
}

function createDriver(
  settings: RedisSettings,
  address: RedisAddress,
  parts: Pick<ConnectorParts, 'find' | 'onStream' | 'primaryOnly'>,
): Redis {
  const { Redis } = loadDriver()
  return new Redis({
    ...options(settings, address),
    lazyConnect: true,
    enableOfflineQueue: false,
    retryStrategy: retry,
    db: address.db,
    Connector: connectorTo({ ...parts, tls: address.tls, retryMs: retry }),
  })
}

function options(settings: RedisSettings, address: RedisAddress) {
  return {
    ...(address.username !== undefined && { username: address.username }),
    ...(address.password !== undefined && { password: address.password }),
    ...(address.tls && { tls: {} }),
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    // The driver does not catch errors of its own resubscription; see redis-subscriber.ts.
    autoResubscribe: false,
    connectTimeout: settings.connectTimeoutMs,
    // A server that hangs does not close its side.
    disconnectTimeout: DISCONNECT_MS,
    // Detects a peer that vanished without closing the connection.
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
